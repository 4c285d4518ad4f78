extension BackplaneError {
    /// What went wrong, as text such as `plugin.abi-mismatch`: codes that only a newer version knows survive as they are.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        private init(_ rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }
    }
}

/// The manifest.
extension BackplaneError.Code {
    public static let manifestUnreadable = Self("manifest.unreadable")
    public static let manifestMalformed = Self("manifest.malformed")
    public static let manifestWrongType = Self("manifest.wrong-type")
    public static let manifestMissingKey = Self("manifest.missing-key")
    public static let manifestUnknownKey = Self("manifest.unknown-key")
    public static let manifestUnsupported = Self("manifest.unsupported")
    public static let manifestUnwritable = Self("manifest.unwritable")
    public static let manifestUnknownEnvironment = Self("manifest.unknown-environment")
    public static let manifestUnsetVariable = Self("manifest.unset-variable")
    public static let manifestMalformedVariable = Self("manifest.malformed-variable")
    public static let unknownManager = Self("manager.unknown")
    public static let unknownClass = Self("component.unknown-class")
    public static let wrongRole = Self("component.wrong-role")
    public static let versionOutOfRange = Self("component.version-out-of-range")
    public static let versionMalformed = Self("version.malformed")
    public static let wireUnsatisfied = Self("wire.unsatisfied")
    public static let wireUnknown = Self("wire.unknown")
    public static let wireMismatch = Self("wire.mismatch")
    public static let dependencyCycle = Self("manager.cycle")
    public static let dependencyUnsatisfied = Self("manager.unsatisfied")
    public static let configurationInvalid = Self("configuration.invalid")
    public static let lockMismatch = Self("lock.mismatch")
    public static let lockIncomplete = Self("lock.incomplete")
    public static let lockObsolete = Self("lock.obsolete")
    public static let folderShared = Self("component.folder-shared")
}

/// Loading.
extension BackplaneError.Code {
    public static let pluginNotFound = Self("plugin.not-found")
    public static let pluginUnreadable = Self("plugin.unreadable")
    public static let pluginUntrusted = Self("plugin.untrusted")
    public static let pluginDigestMismatch = Self("plugin.digest-mismatch")
    public static let pluginDigestUnsupported = Self("plugin.digest-unsupported")
    public static let pluginDamaged = Self("plugin.damaged")
    public static let pluginWrongMachine = Self("plugin.wrong-machine")
    public static let pluginNoIdentity = Self("plugin.no-identity")
    public static let pluginNoEntry = Self("plugin.no-entry")
    public static let pluginABIMismatch = Self("plugin.abi-mismatch")
    public static let pluginToolchainMismatch = Self("plugin.toolchain-mismatch")
    public static let pluginLayoutMismatch = Self("plugin.layout-mismatch")
    public static let pluginLoadFailed = Self("plugin.load-failed")
    public static let pluginRefused = Self("plugin.refused")
    public static let pluginInvalidAnswer = Self("plugin.invalid-answer")
    public static let pluginDuplicate = Self("plugin.duplicate")
    public static let hostStaticRuntime = Self("host.static-runtime")
    public static let loadFolderUnusable = Self("host.load-folder-unusable")
    public static let dataFolderUnusable = Self("host.data-folder-unusable")
}

/// Swapping.
extension BackplaneError.Code {
    public static let pluginUnknown = Self("plugin.unknown")
    /// Nothing was touched.
    public static let swapRefused = Self("swap.refused")
    /// A step failed, and the old code goes on.
    public static let swapFailed = Self("swap.failed")
    public static let stateIncompatible = Self("state.incompatible")
}

/// The control socket.
extension BackplaneError.Code {
    /// It cannot be made.
    public static let controlUnusable = Self("control.unusable")
    /// No host listens, or it does not answer.
    public static let controlUnreachable = Self("control.unreachable")
    /// Host and tool are of versions that do not understand each other.
    public static let controlProtocol = Self("control.protocol")
    public static let controlMalformed = Self("control.malformed")
    public static let controlUnknownRequest = Self("control.unknown-request")
    public static let controlForbidden = Self("control.forbidden")
    public static let controlBusy = Self("control.busy")
    /// What was answered cannot be written as JSON.
    public static let controlFailed = Self("control.failed")
}

/// Calls.
extension BackplaneError.Code {
    public static let callInvalidInput = Self("call.invalid-input")
    public static let callInvalidOutput = Self("call.invalid-output")
    public static let callUnimplemented = Self("call.unimplemented")
    public static let callCancelled = Self("call.cancelled")
    public static let callDeadline = Self("call.deadline")
    public static let callRetired = Self("call.retired")
    public static let componentFailed = Self("component.failed")
    public static let roleForbidden = Self("role.forbidden")
    public static let hostStopped = Self("host.stopped")
    public static let interfaceMissing = Self("host.interface-missing")
    public static let resourceMissing = Self("resource.missing")
}
