/// The options of each part of the host.
extension HostOptions {
    var loading: LoadingOptions {
        LoadingOptions(
            pluginPaths: pluginPaths, folder: loadFolder, limit: loadLimit,
            trials: LibraryTrials(trials, arePossible: canTryLibraries, log: log), getInterface: HostInterfaces.get)
    }

    var lifecycle: LifecycleOptions {
        LifecycleOptions(
            loading: loading, log: log, lanes: lanes, counting: counting, startLimit: startLimit, stopLimit: stopLimit,
            servicesLimit: servicesLimit, exchangeIdleLimit: exchangeIdleLimit, waitingLimit: waitingLimit)
    }

    /// Returns the options for components whose responses managers may map.
    func lifecycle(of managers: NetworkManagers) -> LifecycleOptions {
        var options = lifecycle
        options.loading.serialize = managers.serialize
        return options
    }

    var swapping: SwappingOptions {
        SwappingOptions(fault: swapFault, checksState: checksState, stateLimit: stateLimit)
    }
}
