/// The parts of a host that a swap works on and with.
struct SwapSurroundings {
    let startup: Startup
    let shutdown: Shutdown
    let retirements: Retirements
    let turns: Turns
    let options: SwappingOptions
}
