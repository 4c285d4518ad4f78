/// The error that every part of Backplane throws.
///
/// An error has a code for programs, a message for people, a location and causes. It crosses the boundary unchanged, so
/// a plugin's error reads the same in the host and in another plugin. Only ``calls`` grows with each call that the
/// error ends.
public struct BackplaneError: Error, Sendable {
    /// The kind of the error, for comparison: `error.code == .callDeadline`.
    public var code: Code
    /// A description of the problem and its remedy, in one line.
    public var message: String
    /// The location of the error: a file, or a path in a value or manifest, such as
    /// `/managers/LibraryManager/className`.
    public var location: String?
    /// The component's own description of its error, if the code is `componentFailed`.
    public var failure: Failure?
    /// The errors that caused this one.
    public var causes: [BackplaneError]
    /// The calls that the error has ended, outermost first.
    ///
    /// An entry such as `Shelf.find (org.example.shelf)` consists of the component, the method and the plugin. The list
    /// has at most 16 entries; entries in the middle of a longer list are omitted. For a cancelled call it has one
    /// entry.
    public var calls: [String] = []

    /// Creates an error to throw or to report.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - message: A description of the problem and its remedy, in one line.
    ///   - location: A path in a manifest or value, or a file.
    ///   - failure: The component's own description of the error, with `componentFailed`.
    ///   - causes: The errors that caused this one.
    public init(
        _ code: Code, _ message: String, at location: String? = nil, failure: Failure? = nil,
        causes: [BackplaneError] = []
    ) {
        (self.code, self.message, self.location, self.failure, self.causes) = (code, message, location, failure, causes)
    }

    /// A component's own code and details, provided by an error that adopts ``ComponentError``.
    public struct Failure: Sendable, Equatable, Codable {
        /// The code that the component chose.
        public var code: String
        /// Further facts, keyed by name; a fact is confidential if its name begins with a dot.
        public var details: [String: String]
        /// The value of a ``ContractError`` as JSON, from which its callers decode it.
        public var json: String?

        /// Creates the part of an error that callers of the component compare.
        public init(code: String, details: [String: String] = [:], json: String? = nil) {
            (self.code, self.details, self.json) = (code, details, json)
        }
    }
}

extension BackplaneError: Equatable {
    /// Returns whether two errors are equal, regardless of the ``calls`` that they have ended.
    public static func == (a: Self, b: Self) -> Bool {
        a.code == b.code && a.message == b.message && a.location == b.location && a.failure == b.failure
            && a.causes == b.causes
    }
}

extension BackplaneError {
    /// Returns the error of a call that another error has ended.
    ///
    /// - Parameter call: The name of the call, for ``calls``.
    package func of(call: String) -> BackplaneError {
        var error = self
        if code == .callCancelled { error.calls = [] }  // as in EncodedAnswer
        error.calls.insert(call, at: 0)
        if error.calls.count > 16 { error.calls.replaceSubrange(8...9, with: ["…"]) }
        return error
    }
}

extension BackplaneError: CustomStringConvertible {
    /// The calls, location, code and message, in one line.
    public var description: String {
        let path = calls.isEmpty ? "" : calls.joined(separator: " → ") + ": "
        let own = failure.map { " (\($0.code))" } ?? ""
        return path + (location.map { "\($0): " } ?? "") + "\(code)\(own): \(message)"
    }

    /// The error and all its causes, indented, with one line each, and without confidential details.
    public var detailedDescription: String {
        lines(indent: "") { failure in failure.shownDetails }.joined(separator: "\n")
    }

    /// The error and all its causes, indented, with all details, which may contain secrets.
    public var expandedDescription: String {
        lines(indent: "") { failure in failure.details.sorted { $0.key < $1.key } }.joined(separator: "\n")
    }

    private func lines(
        indent: String, _ details: (Failure) -> [(key: String, value: String)]
    ) -> [String] {
        let own = failure.map(details) ?? []
        return [indent + description] + own.map { "\(indent)  \($0.key): \($0.value)" }
            + causes.flatMap { $0.lines(indent: indent + "  ", details) }
    }
}

extension BackplaneError: CustomDebugStringConvertible {
    /// The ``detailedDescription``, which Swift prints for an uncaught error.
    public var debugDescription: String { detailedDescription }
}

extension BackplaneError.Failure {
    /// The details that are not confidential, sorted by name.
    package var shownDetails: [(key: String, value: String)] {
        details.filter { !$0.key.hasPrefix(".") }.sorted { $0.key < $1.key }
    }
}

extension BackplaneError {
    /// The kind of an error, as text such as `plugin.abi-mismatch`.
    ///
    /// Codes that are known only to a newer version are preserved.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The text of the code: an area, a dot and a reason.
        public let rawValue: String
        /// Creates a code from its text.
        ///
        /// Every text is valid.
        public init(rawValue: String) { self.rawValue = rawValue }
        private init(_ rawValue: String) { self.rawValue = rawValue }
        /// The text of the code.
        public var description: String { rawValue }
    }
}

/// Errors of a manifest and of its resolution.
extension BackplaneError.Code {
    /// The manifest cannot be read from its file.
    public static let manifestUnreadable = Self("manifest.unreadable")
    /// The manifest is not well-formed, or a manager to be added already exists in it.
    public static let manifestMalformed = Self("manifest.malformed")
    /// A value in the manifest has the wrong type.
    public static let manifestWrongType = Self("manifest.wrong-type")
    /// A required key is missing.
    public static let manifestMissingKey = Self("manifest.missing-key")
    /// The manifest has a key that is not defined at its place.
    public static let manifestUnknownKey = Self("manifest.unknown-key")
    /// The manifest has a form that this operation or this version does not support.
    public static let manifestUnsupported = Self("manifest.unsupported")
    /// The manifest has no managers, so activating it would stop every manager.
    public static let manifestEmpty = Self("manifest.empty")
    /// The manifest changes a section that a running host cannot change.
    public static let manifestNeedsRestart = Self("manifest.needs-restart")
    /// The manifest cannot be written.
    public static let manifestUnwritable = Self("manifest.unwritable")
    /// The manifest defines no environment of the requested name.
    public static let manifestUnknownEnvironment = Self("manifest.unknown-environment")
    /// A variable without a default is not set.
    public static let manifestUnsetVariable = Self("manifest.unset-variable")
    /// A reference to a variable is not of the form `${NAME}` or `${NAME:-default}`.
    public static let manifestMalformedVariable = Self("manifest.malformed-variable")
    /// No manager has the name, or none serves the contract.
    public static let unknownManager = Self("manager.unknown")
    /// No loaded plugin registers the class.
    public static let unknownClass = Self("component.unknown-class")
    /// The class exists, but has another role.
    public static let wrongRole = Self("component.wrong-role")
    /// The available version is outside the range that the manifest allows.
    public static let versionOutOfRange = Self("component.version-out-of-range")
    /// A string is not a version or a range of versions.
    public static let versionMalformed = Self("version.malformed")
    /// A required wire has no provider.
    public static let wireUnsatisfied = Self("wire.unsatisfied")
    /// The manifest names a wire that the component does not declare.
    public static let wireUnknown = Self("wire.unknown")
    /// The provider's contract does not match the one that its consumer requires.
    public static let wireMismatch = Self("wire.mismatch")
    /// Consumer and provider of a wire lay out its values differently, so calls through it are encoded.
    public static let wireEncoded = Self("wire.encoded")
    /// Managers depend on each other in a cycle.
    public static let dependencyCycle = Self("manager.cycle")
    /// A manager cannot be used because a manager that it uses cannot be used.
    public static let dependencyUnsatisfied = Self("manager.unsatisfied")
    /// A component's configuration cannot be decoded.
    public static let configurationInvalid = Self("configuration.invalid")
    /// The chosen class or version differs from the manifest's lock.
    public static let lockMismatch = Self("lock.mismatch")
    /// The manifest's lock has no entry for a definition.
    public static let lockIncomplete = Self("lock.incomplete")
    /// The manifest's lock has an entry without a definition.
    public static let lockObsolete = Self("lock.obsolete")
    /// Two data access controllers would share a folder.
    public static let folderShared = Self("component.folder-shared")
    /// Two managers list a route of the same method and equivalent paths.
    public static let routeClash = Self("route.clash")
}

/// Errors of loading.
extension BackplaneError.Code {
    /// No library was found under the name or path.
    public static let pluginNotFound = Self("plugin.not-found")
    /// The library or its files cannot be read or copied.
    public static let pluginUnreadable = Self("plugin.unreadable")
    /// The library is not a regular file, or its owner or mode does not permit loading it.
    public static let pluginUntrusted = Self("plugin.untrusted")
    /// The library's SHA-256 does not match the manifest's.
    public static let pluginDigestMismatch = Self("plugin.digest-mismatch")
    /// The library is not a complete ELF image, or its tables point outside it.
    public static let pluginDamaged = Self("plugin.damaged")
    /// The library was built for another architecture.
    public static let pluginWrongMachine = Self("plugin.wrong-machine")
    /// The library has no identity section.
    public static let pluginNoIdentity = Self("plugin.no-identity")
    /// The library does not export the entry function.
    public static let pluginNoEntry = Self("plugin.no-entry")
    /// The host and the plugin support no common ABI number.
    public static let pluginABIMismatch = Self("plugin.abi-mismatch")
    /// The plugin was built with another minor version of Swift.
    public static let pluginToolchainMismatch = Self("plugin.toolchain-mismatch")
    /// The plugin lays out a struct of the ABI differently from the host.
    public static let pluginLayoutMismatch = Self("plugin.layout-mismatch")
    /// The dynamic linker cannot load the library.
    public static let pluginLoadFailed = Self("plugin.load-failed")
    /// The library terminated or blocked the child process in which it was first opened.
    public static let pluginTrialFailed = Self("plugin.trial-failed")
    /// The plugin's entry function returned an error.
    public static let pluginRefused = Self("plugin.refused")
    /// The plugin's answer or one of its descriptors violates the rules of the boundary.
    public static let pluginInvalidAnswer = Self("plugin.invalid-answer")
    /// A plugin is already loaded in the same version.
    public static let pluginDuplicate = Self("plugin.duplicate")
    /// The host is linked with a static Swift runtime, with which no library can be loaded.
    public static let hostStaticRuntime = Self("host.static-runtime")
    /// The system does not provide a thread, process or open file that the host needs.
    public static let hostExhausted = Self("host.exhausted")
    /// The folder that libraries are loaded from cannot be used.
    public static let loadFolderUnusable = Self("host.load-folder-unusable")
    /// The folder for components' data cannot be used.
    public static let dataFolderUnusable = Self("host.data-folder-unusable")
}

/// Errors of swapping.
extension BackplaneError.Code {
    /// No active plugin has the id or name.
    public static let pluginUnknown = Self("plugin.unknown")
    /// The swap was refused before anything was changed.
    public static let swapRefused = Self("swap.refused")
    /// A step of the swap failed, and the old code continues.
    public static let swapFailed = Self("swap.failed")
    /// Calls have not ended before a swap's time limit; this is the cause of a failed swap that may be tried again.
    public static let swapHeld = Self("swap.held")
    /// A state has a schema, version or content that the code cannot read or write.
    public static let stateIncompatible = Self("state.incompatible")
}

/// Errors of the control socket.
extension BackplaneError.Code {
    /// The control socket cannot be created.
    public static let controlUnusable = Self("control.unusable")
    /// No host listens on the socket, or it does not answer.
    public static let controlUnreachable = Self("control.unreachable")
    /// Host and tool use incompatible versions of the protocol.
    public static let controlProtocol = Self("control.protocol")
    /// A request is not valid.
    public static let controlMalformed = Self("control.malformed")
    /// The host does not support a request of this name.
    public static let controlUnknownRequest = Self("control.unknown-request")
    /// The user of the other process is not allowed to send or answer requests.
    public static let controlForbidden = Self("control.forbidden")
    /// The host has no threads or file descriptors left for the request.
    public static let controlBusy = Self("control.busy")
    /// The answer cannot be written as JSON.
    public static let controlFailed = Self("control.failed")
}

/// Errors of calls.
extension BackplaneError.Code {
    /// The input of a call cannot be encoded or decoded.
    public static let callInvalidInput = Self("call.invalid-input")
    /// The output of a call cannot be encoded or decoded.
    public static let callInvalidOutput = Self("call.invalid-output")
    /// The provider does not implement the method.
    public static let callUnimplemented = Self("call.unimplemented")
    /// The method is a stream and was called, or is not a stream and was opened.
    public static let callWrongKind = Self("call.wrong-kind")
    /// The call was cancelled.
    public static let callCancelled = Self("call.cancelled")
    /// The call's deadline has passed.
    public static let callDeadline = Self("call.deadline")
    /// The called or the calling component has stopped, or the call cannot wait for its restart.
    public static let callRetired = Self("call.retired")
    /// Too many calls already wait for the called component.
    public static let callOverloaded = Self("call.overloaded")
    /// The provider of the stream was swapped or stopped, and the stream can be opened again.
    public static let streamInterrupted = Self("stream.interrupted")
    /// The stream was read twice, by two readers concurrently, or after it was closed.
    public static let streamMisused = Self("stream.misused")
    /// The component threw its own error.
    public static let componentFailed = Self("component.failed")
    /// The component's role does not permit the use of this host service.
    public static let roleForbidden = Self("role.forbidden")
    /// The host has stopped.
    public static let hostStopped = Self("host.stopped")
    /// The host does not offer a service that the plugin needs.
    public static let interfaceMissing = Self("host.interface-missing")
    /// A component's timer has an invalid value or a name in use, or there are too many timers.
    public static let timerRefused = Self("timer.refused")
    /// A file cannot be handed over to another component, or adopted by one.
    public static let fileRefused = Self("file.refused")
    /// The plugin has no such resource file.
    public static let resourceMissing = Self("resource.missing")
}

extension BackplaneError: Codable {
    /// Decodes an object with a `code`; every other key is optional.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        self.init(
            Code(rawValue: try container.decode(String.self, forKey: .code)),
            try container.decodeIfPresent(String.self, forKey: .message) ?? "",
            at: try container.decodeIfPresent(String.self, forKey: .location),
            failure: try container.decodeIfPresent(Failure.self, forKey: .failure),
            causes: try container.decodeIfPresent([BackplaneError].self, forKey: .causes) ?? [])
        calls = try container.decodeIfPresent([String].self, forKey: .calls) ?? []
    }

    /// Encodes an object with `code` and `message`, and with `location`, `failure`, `causes` and `calls` where present.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(location, forKey: .location)
        try container.encodeIfPresent(failure, forKey: .failure)
        if !causes.isEmpty { try container.encode(causes, forKey: .causes) }
        if !calls.isEmpty { try container.encode(calls, forKey: .calls) }
    }
}

extension TextKey {
    fileprivate static let code = TextKey("code")
    fileprivate static let message = TextKey("message")
    fileprivate static let location = TextKey("location")
    fileprivate static let failure = TextKey("failure")
    fileprivate static let causes = TextKey("causes")
    fileprivate static let calls = TextKey("calls")
}

/// An error of a component whose code, message and details reach its callers.
///
/// Any other error arrives as ``BackplaneError/Code/componentFailed`` with its description as the message.
///
/// ```swift
/// struct NotOnShelf: ComponentError {
///     var title: String
///     var code: String { "library.not-on-shelf" }
///     var message: String { "`\(title)` is lent out" }
/// }
/// ```
public protocol ComponentError: Error {
    /// The kind of the error, for callers to compare.
    var code: String { get }
    /// A description of the problem, in one line.
    var message: String { get }
    /// Further facts, keyed by name. Default: none.
    ///
    /// Details are written to logs and must not contain secrets, except for details whose names begin with a dot.
    var details: [String: String] { get }
}

extension ComponentError {
    /// The default: no details.
    public var details: [String: String] { [:] }
}

/// An error that a contract declares, and that callers catch as a value of its type.
///
/// ```swift
/// public struct Tides: Contract {
///     public static let version: Version = "1.0.0"
///     public let depth = SyncMethod<String, Double>()
///     public init() {}
///
///     public enum Failure: ContractError {
///         case unknownPort(String)
///         public var code: String { "tides.unknown-port" }
///         public var message: String { "the tide table does not have this port" }
///     }
/// }
/// ```
///
/// Calls of such a contract throw `any Error`: this type, or a ``BackplaneError`` for everything else. A value of this
/// type also arrives as a ``BackplaneError`` if the caller's version of the type cannot decode it, or gives it another
/// ``ComponentError/code``.
public protocol ContractError: ComponentError, ContractFailure, Codable {}

extension ContractError {
    /// Returns the error of this type that a component threw; another error unchanged.
    @_documentation(visibility: internal)
    public static func thrown(_ error: BackplaneError) -> any Error { error.failure(as: Self.self) ?? error }

    fileprivate var json: String? {
        (try? JSON.encode(self, failing: .callInvalidOutput)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The type that a contract declares for its errors: a ``ContractError``, or `Never`.
public protocol ContractFailure: Error {
    /// The error that calls throw: `any Error` for a ``ContractError``, ``BackplaneError`` for `Never`.
    associatedtype Thrown: Error
    /// Returns the error that a call throws for an error that crossed the boundary.
    static func thrown(_ error: BackplaneError) -> Thrown
}

extension Never: ContractFailure {
    /// Returns the error unchanged.
    @_documentation(visibility: internal) @inlinable
    public static func thrown(_ error: BackplaneError) -> BackplaneError { error }
}

extension BackplaneError {
    /// Returns the error that a component threw; `nil` if it has another type, or a version that cannot be decoded.
    public func failure<Failure: ContractError>(as _: Failure.Type) -> Failure? {
        guard let failure, let json = failure.json,
            let value = try? JSON.decode(Failure.self, Array(json.utf8), failing: .callInvalidOutput),
            value.code == failure.code
        else { return nil }
        return value
    }

    /// Creates the error that callers receive for an error thrown by a component.
    ///
    /// A `BackplaneError` is kept unchanged, a `CancellationError` becomes `call.cancelled`, and a ``ContractError``
    /// can be taken out again by ``failure(as:)``.
    public init(thrown error: any Error) {
        switch error {
        case let error as BackplaneError: self = error
        case let error as any ComponentError:
            let json = (error as? any ContractError)?.json
            self.init(
                .componentFailed, error.message,
                failure: Failure(code: error.code, details: error.details, json: json))
        case is CancellationError: self.init(.callCancelled, "the call was cancelled")
        default: self.init(.componentFailed, String(describing: error))
        }
    }
}
