public import Backplane
public import BackplaneExchange
public import BackplaneNetwork
public import BackplaneRecords
public import BackplaneStorage
import CBackplane

/// The configuration of a host apart from its manifest; every option has a default.
public struct HostOptions: Sendable {
    /// The folders to search for libraries, after the manifest's own folder and before the program's.
    public var pluginPaths: [String]
    /// The folder to which libraries are copied before they are loaded.
    ///
    /// `nil` means `$XDG_CACHE_HOME` or the temporary folder.
    public var loadFolder: String?
    /// The folder for the data of components; `nil` means `$XDG_STATE_HOME/backplane`.
    public var dataFolder: String?
    /// The destination of the log of the host and its components.
    public var log: any LogSink
    /// The lowest levels that are passed to ``log``; ``PluginHost/logLevels`` changes them while the host runs.
    public var logLevels = LogLevels()
    /// The engines that execute components' requests, in addition to `file:` URLs below the manifest's folder.
    public var executors: [any HTTPExecutor]
    /// The interceptors of all exchanges except requests for tokens, with the first one outermost.
    ///
    /// They surround the interceptors of the manifest.
    public var interceptors: [HTTPInterceptor] = []
    /// The observers of all exchanges, which are called by the exchanges and must not block.
    public var observers: [@Sendable (ExchangeEvent) -> Void] = []
    /// The mocks that answer exchanges; `nil` means that only exchanges whose `usesMock` is `true` are mocked.
    ///
    /// The folders of the mocks are searched first. The folder `mocks` beside the manifest follows, and then the folder
    /// `mocks` in the resources of the plugin that sends the request.
    public var mocks: Mocks?
    /// The cassette to which exchanges are recorded, or which is replayed; `nil` for none.
    public var cassette: Cassette?
    /// The function that opens the record store in one of the host's folders when the first data access controller
    /// starts.
    public var openStore: StoreOpener
    /// The function that opens the cache on the disk when the first load uses it; `nil` if memory takes its place.
    public var openCache: CacheOpener?
    /// The treatment of a store with a damaged file; `nil` means the manifest's policy.
    public var damagedStore: DamagedStorePolicy?
    /// The rule for the lanes of calls, and of state in a swap.
    public var lanes: LaneRule
    /// The rule for the libraries that are tried in a child process before this process loads them.
    ///
    /// The child process runs this program again without its `main`. If the host is part of a library rather than of
    /// the program's executable, no library is tried, and the host logs that once.
    public var trials = TrialRule.whileRunning
    /// Whether this program can be started again for trials, which tests may change.
    package var canTryLibraries = Trial.isPossible
    /// The way in which calls are counted, which tests may change.
    package var counting: LeaseCounting = .best
    /// The clock of limits, deadlines and timers, which tests may replace; `nil` means the system clock.
    package var clock: (any HostClock)?
    /// The time limit for a component to end its use of the host's services, before and again after its `suspend`.
    package var servicesLimit = Duration.seconds(1)
    /// A fault that tests inject before each swap action that can fail.
    package var swapFault: (@Sendable (ChangeAction) throws(BackplaneError) -> Void)?
    /// A Boolean value that indicates whether swaps export imported state again and compare the two exports.
    ///
    /// For this check, state that crosses natively is also encoded as JSON. By default, only debug builds make the
    /// check.
    public var checksState = HostOptions.isDebug
    /// The maximum size of one component's state, in bytes, if it does not cross natively.
    public var stateLimit = 1 << 30
    /// The time limit for loading a library, and again for registering its classes.
    public var loadLimit = Duration.seconds(60)
    /// The time limit for starting a component.
    public var startLimit: Duration
    /// The time limit for a component to finish its calls, and again to stop.
    public var stopLimit: Duration
    /// The time after which a component's exchange is ended if the response's body makes no progress.
    ///
    /// A streamed body makes progress when the component reads it. A body that is collected or written to a file makes
    /// progress when the server sends it.
    public var exchangeIdleLimit = Duration.seconds(60)
    /// The maximum number of calls that wait for one component while it is swapped or restarted.
    ///
    /// Additional calls fail immediately with `call.overloaded`.
    public var waitingLimit = 10_000
    /// The time for which Swift's thread pool may be occupied before the log reports it, with the likely components.
    ///
    /// `nil` disables the report.
    public var occupationLimit: Duration?
    /// A Boolean value that indicates whether a crash in plugin code prints the plugin and its generation.
    ///
    /// The line is written to standard error.
    ///
    /// This installs signal handlers for the whole process and its lifetime; handlers installed earlier run after them.
    /// As a result, a write to a pipe without a reader no longer terminates the process (`SIGPIPE`), unless that signal
    /// was handled before.
    public var namesCrashes = false

    /// Creates options; any that are not specified have their default values.
    public init(
        pluginPaths: [String] = [], loadFolder: String? = nil, dataFolder: String? = nil,
        log: any LogSink = SilentLog(), executors: [any HTTPExecutor] = [],
        openStore: @escaping StoreOpener = { _, _, _ in MemoryRecordStore() }, lanes: LaneRule = .fastest,
        startLimit: Duration = .seconds(60), stopLimit: Duration = .seconds(10),
        occupationLimit: Duration? = .seconds(1)
    ) {
        (self.pluginPaths, self.loadFolder, self.dataFolder, self.log) = (pluginPaths, loadFolder, dataFolder, log)
        (self.executors, self.openStore, self.lanes) = (executors, openStore, lanes)
        (self.startLimit, self.stopLimit, self.occupationLimit) = (startLimit, stopLimit, occupationLimit)
    }

    /// Returns the parts of the host's network that outlive manifests.
    func network(by clock: any HostClock) -> HostNetwork.Means {
        var means = HostNetwork.Means(executors, clock)
        (means.interceptors, means.observers, means.log) = (interceptors, observers, log)
        (means.mocks, means.cassette) = (mocks ?? .none, cassette)
        return means
    }

    /// A function that opens a record store in a folder, and reports any damage that it finds.
    public typealias StoreOpener =
        @Sendable (
            _ folder: String, _ settings: StoreSettings, _ report: @escaping @Sendable (BackplaneError) -> Void
        ) throws -> any RecordStore

    /// A function that opens a cache of responses in a folder, with a maximum number of bytes, and reports any damage
    /// that it finds.
    public typealias CacheOpener =
        @Sendable (_ folder: String, _ limit: Int, _ report: @escaping @Sendable (BackplaneError) -> Void) throws ->
        any CacheProvider

    private static var isDebug: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }
}

/// The version of this host and of the SDK with which it was built.
public enum HostVersion {
    /// The version as text, such as `1.2.0`.
    public static let text = String(cString: bp_sdk_version)
}
