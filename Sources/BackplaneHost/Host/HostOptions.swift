public import Backplane
public import BackplaneExchange
public import BackplaneNetwork
public import BackplaneRecords
public import BackplaneStorage

/// The configuration of a host apart from its manifest; every option has a default.
public struct HostOptions: Sendable {
    /// The folders in which to look for libraries, after the manifest's own folder and before the program's.
    public var pluginPaths: [String]
    /// The folder to which libraries are copied before they are loaded.
    ///
    /// `nil` means `$XDG_CACHE_HOME` or the temporary folder.
    public var loadFolder: String?
    /// The folder for the data of components; `nil` means `$XDG_STATE_HOME/backplane`.
    public var dataFolder: String?
    /// The destination of the log of the host and its components.
    public var log: any LogSink
    /// The lowest levels that are passed to ``log``, which ``PluginHost/logLevels`` changes while the host runs.
    public var logLevels = LogLevels()
    /// The algorithms that check a manifest's `sha256`, and that Digest credentials and stored tokens need.
    ///
    /// A manifest that gives a `sha256` is refused without them.
    public var digest: (any ContentDigest)?
    /// The engines that execute components' requests, in addition to `file:` URLs below the manifest's folder.
    public var executors: [any HTTPExecutor]
    /// The filters of all exchanges, which run in this order and before those of the manifest.
    public var filters: [ExchangeFilter] = []
    /// The observers of all exchanges, besides those of the manifest.
    public var observers: [ExchangeObserver] = []
    /// The function that opens the record store in one of the host's folders, when the first data access controller
    /// starts.
    public var openStore: StoreOpener
    /// The treatment of a store whose file is damaged; `nil` uses the manifest's policy.
    public var damagedStore: DamagedStorePolicy?
    /// The rule for the lanes that calls, and states in a swap, may take.
    public var lanes: LaneRule
    /// The rule for the libraries that are tried in a child process before this process loads them.
    ///
    /// The child is forked from this program, started once more in the background; `main` does not run in it. A host
    /// that is not part of the program's executable, but of a library, tries none and logs that once.
    public var trials = TrialRule.whileRunning
    /// The process for trials; for tests.
    package var trialProcess = TrialProcess.shared
    /// The way calls are counted; tests set it to exercise the alternative.
    package var counting: LeaseCounting = .best
    /// The clock of the components' timers, which a test's host replaces; `nil` means the system's.
    package var timerClock: (any TimerClock)?
    /// The time a component's use of the host's services may take to end before, and again after, its `suspend`.
    package var servicesLimit = Duration.seconds(1)
    /// A fault injected before each swap action that can fail; for tests.
    package var swapFault: (@Sendable (SwapAction) throws(BackplaneError) -> Void)?
    /// A Boolean value that indicates whether swaps export imported state again and compare the two exports.
    ///
    /// A state that crosses natively is tried as JSON for that. By default, they do so only in debug builds.
    public var checksState = HostOptions.isDebug
    /// The largest state of one component, in bytes, where it does not cross natively.
    public var stateLimit = 1 << 30
    /// The time one library may take to be loaded, and then again to register its classes.
    public var loadLimit = Duration.seconds(60)
    /// The time one component may take to start.
    public var startLimit: Duration
    /// The time one component may take to finish its calls, and then again to stop.
    public var stopLimit: Duration
    /// The time without progress of a response's body after which a component's exchange is ended.
    ///
    /// The component has to read a body that streams to it, and the server has to send one that is collected, or
    /// written to a file.
    public var exchangeIdleLimit = Duration.seconds(60)
    /// The number of calls that may wait for one component while it is swapped or restarted.
    ///
    /// Further calls fail immediately with `call.overloaded`.
    public var waitingLimit = 10_000
    /// The time Swift's thread pool may be occupied before the log reports it, and the likely components.
    ///
    /// `nil` turns the report off.
    public var occupationLimit: Duration?
    /// A Boolean value that indicates whether a crash in plugin code prints the plugin and its generation.
    ///
    /// The line goes to standard error.
    ///
    /// This installs signal handlers for the whole process and for its lifetime; handlers installed earlier run after
    /// them. It also means that a write to a pipe without a reader no longer ends the process (`SIGPIPE`), unless that
    /// signal was handled before.
    public var namesCrashes = false

    /// Creates options with a default for each one not given.
    public init(
        pluginPaths: [String] = [], loadFolder: String? = nil, dataFolder: String? = nil,
        log: any LogSink = SilentLog(),
        digest: (any ContentDigest)? = nil, executors: [any HTTPExecutor] = [],
        openStore: @escaping StoreOpener = { _, _, _ in MemoryRecordStore() }, lanes: LaneRule = .fastest,
        startLimit: Duration = .seconds(60), stopLimit: Duration = .seconds(10),
        occupationLimit: Duration? = .seconds(1)
    ) {
        (self.pluginPaths, self.loadFolder, self.dataFolder, self.log) = (pluginPaths, loadFolder, dataFolder, log)
        (self.digest, self.executors, self.openStore, self.lanes) = (digest, executors, openStore, lanes)
        (self.startLimit, self.stopLimit, self.occupationLimit) = (startLimit, stopLimit, occupationLimit)
    }

    /// The parts of the host's network that outlast manifests.
    var network: HostNetwork.Means {
        var means = HostNetwork.Means(executors)
        (means.filters, means.observers, means.digest, means.log) = (filters, observers, digest, log)
        return means
    }

    /// A function that opens a record store in a folder, and reports damage that it finds.
    public typealias StoreOpener =
        @Sendable (
            _ folder: String, _ settings: StoreSettings, _ report: @escaping @Sendable (BackplaneError) -> Void
        ) throws -> any RecordStore

    private static var isDebug: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }
}
