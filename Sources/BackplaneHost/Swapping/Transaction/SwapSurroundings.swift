/// The parts of a host that a swap uses.
struct SwapSurroundings {
    let startup: Startup
    let shutdown: Shutdown
    let retirements: Retirements
    let turns: Turns
    let options: SwappingOptions
}
