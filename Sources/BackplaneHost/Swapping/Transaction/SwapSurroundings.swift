/// The parts of a host that a swap works with.
struct SwapSurroundings {
    let startup: Startup
    let shutdown: Shutdown
    let retirements: Retirements
    let turns: Turns
    let options: SwappingOptions
}
