package import Backplane

/// The one Swift runtime of a process, and which libraries can live with it.
package struct SwiftRuntime: Sendable {
    /// Of the compiler that built this host. Swift on Linux has no stable ABI: only the patch may differ.
    package let version: Version
    /// Whether it is a library, which plugins find in the process; `false`: the host program has it linked into itself.
    package let isShared: Bool

    package static let ofThisProcess = SwiftRuntime(version: SwiftCompiler.version, loaded: LoadedObjects.paths)

    /// - Parameter loaded: the paths of all that the process has loaded; `nil`: not known.
    package init(version: Version, loaded: Set<String>?) {
        self.version = version
        isShared = loaded?.contains { FilePath.name(of: $0).hasPrefix("libswiftCore.so") } ?? true
    }
}

extension SwiftRuntime {
    /// Makes sure that a library can be loaded beside this runtime.
    ///
    /// - Throws: `host.static-runtime`, `plugin.toolchain-mismatch`.
    package func require(for library: LibraryIdentity, at path: String) throws(BackplaneError) {
        guard isShared else {
            throw BackplaneError(
                .hostStaticRuntime,
                "this host has the Swift runtime linked into itself, and a library would bring a second one; build the host without -static-stdlib", at: path)
        }
        guard library.hasSwift else { return }
        let own = Self.minor(version)
        guard let built = library.swift else {
            throw BackplaneError(
                .pluginToolchainMismatch,
                """
                there is Swift code in this library, and it does not say which Swift built it; \
                link the Backplane SDK, which says it, and build it with Swift \(own)
                """,
                at: path)
        }
        guard Self.minor(built) == own else {
            throw BackplaneError(
                .pluginToolchainMismatch,
                """
                a process has one Swift runtime, this host's is of Swift \(own), and the library was built by Swift \(Self.minor(built)); \
                rebuild it with Swift \(own)
                """,
                at: path)
        }
    }

    /// Two versions of which this is the same share a runtime.
    package static func minor(_ version: Version) -> String { "\(version.major).\(version.minor)" }
}
