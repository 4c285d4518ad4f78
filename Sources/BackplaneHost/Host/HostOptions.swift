public import Backplane
public import BackplaneNetwork
public import BackplaneStorage

/// What a host is given besides its manifest. Everything has a default.
public struct HostOptions: Sendable {
    /// Folders to look for libraries in, after the manifest's own and before the program's.
    public var pluginPaths: [String]
    /// Where libraries are copied to before they are loaded; `nil`: `$XDG_CACHE_HOME`, or the temporary folder.
    public var loadFolder: String?
    /// Where data access controllers keep their data; `nil`: `$XDG_STATE_HOME/backplane`.
    public var dataFolder: String?
    public var log: any LogSink
    /// Checks a manifest's `sha256`; without it a manifest that gives one is refused.
    public var digest: (any ContentDigest)?
    /// What carries components' requests out, besides `file:` below the manifest's folder.
    public var executors: [any HTTPExecutor]
    /// Opens the record store in a folder of the host's, when a component first asks for it; what it repaired it reports.
    public var openStore: StoreOpener
    /// Which lane calls may take.
    public var lanes: LaneRule
    /// How calls are counted; for tests of the other way.
    package var counting: LeaseCounting = .best
    /// Fails actions of swaps before they are begun, those that can fail; for tests.
    package var swapFault: (@Sendable (SwapAction) throws(BackplaneError) -> Void)?
    /// Has swaps compare what is exported with what is exported again after it was imported. Default: in debug builds.
    public var checksState = HostOptions.isDebug
    /// Bytes that one component's state may have.
    public var stateLimit = 1 << 30
    /// How long one library may take to be loaded, and then to say what it brings.
    public var loadLimit = Duration.seconds(60)
    /// How long one component may take to start.
    public var startLimit: Duration
    /// How long one component may take to end its calls, and then to stop.
    public var stopLimit: Duration
    /// How long Swift's thread pool may be occupied before the log says so, and which components may be why; `nil`: nobody looks.
    public var occupationLimit: Duration?
    /// Whether a signal that a plugin's code raises has the process say at once, on standard error, which plugin and which
    /// generation of it that was. Sets handlers of signals, for the whole process and for good; those that were set before run after that.
    /// With it a write to a pipe that nobody reads ends the process no longer (`SIGPIPE`), unless somebody handled that before.
    public var namesCrashes = false

    public init(
        pluginPaths: [String] = [], loadFolder: String? = nil, dataFolder: String? = nil, log: any LogSink = SilentLog(),
        digest: (any ContentDigest)? = nil, executors: [any HTTPExecutor] = [],
        openStore: @escaping StoreOpener = { _, _ in MemoryRecordStore() }, lanes: LaneRule = .fastest, startLimit: Duration = .seconds(60), stopLimit: Duration = .seconds(10),
        occupationLimit: Duration? = .seconds(1)
    ) {
        (self.pluginPaths, self.loadFolder, self.dataFolder, self.log) = (pluginPaths, loadFolder, dataFolder, log)
        (self.digest, self.executors, self.openStore, self.lanes) = (digest, executors, openStore, lanes)
        (self.startLimit, self.stopLimit, self.occupationLimit) = (startLimit, stopLimit, occupationLimit)
    }

    /// Opens a record store in a folder, and reports what was damaged there and has been moved aside.
    public typealias StoreOpener = @Sendable (_ folder: String, _ report: @escaping @Sendable (BackplaneError) -> Void) throws -> any RecordStore

    private static var isDebug: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }
}
