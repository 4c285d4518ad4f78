extension HostOptions {
    var swapping: SwappingOptions { SwappingOptions(fault: swapFault, checksState: checksState, stateLimit: stateLimit) }
}
