package import Backplane
import Glibc

/// The Swift runtime of a process, which determines the libraries that can be loaded.
package struct SwiftRuntime: Sendable {
    /// The version of the compiler that built this host; because Linux has no stable ABI, only the patch number may
    /// differ.
    package let version: Version
    /// Whether the runtime is a shared library, which plugins find in the process.
    ///
    /// It is `false` if the host program is statically linked with the runtime.
    package let isShared: Bool

    package static let ofThisProcess = SwiftRuntime(version: SwiftCompiler.version, loaded: LoadedObjects.paths)

    /// Creates a description of a runtime.
    ///
    /// - Parameter loaded: The paths of all files loaded by the process; `nil` if unknown.
    package init(version: Version, loaded: Set<String>?) {
        self.version = version
        isShared = loaded?.contains { FilePath.name(of: $0).hasPrefix("libswiftCore.so") } ?? true
    }
}

extension SwiftRuntime {
    /// Checks that a library can be loaded with this runtime.
    ///
    /// - Throws: `host.static-runtime` or `plugin.toolchain-mismatch`.
    package func require(for library: LibraryIdentity, at path: String) throws(BackplaneError) {
        guard isShared else {
            throw BackplaneError(
                .hostStaticRuntime,
                "this host links the Swift runtime statically, and a library would load a second one; build the host without -static-stdlib",
                at: path)
        }
        guard library.hasSwift else { return }
        let own = Self.minor(version)
        guard let built = library.swift else {
            throw BackplaneError(
                .pluginToolchainMismatch,
                """
                this library contains Swift code, but does not record the version of Swift that built it; \
                link the Backplane SDK, which records it, and build it with Swift \(own)
                """,
                at: path)
        }
        guard Self.minor(built) == own else {
            throw BackplaneError(
                .pluginToolchainMismatch,
                """
                a process has only one Swift runtime: this host uses Swift \(own), but the library was built with Swift \(Self.minor(built)); \
                rebuild it with Swift \(own)
                """,
                at: path)
        }
    }

    /// Returns the part of a version that must be equal for two versions to share a runtime.
    package static func minor(_ version: Version) -> String { "\(version.major).\(version.minor)" }
}

/// The program and the libraries that are currently mapped into this process.
enum LoadedObjects {
    static var paths: Set<String>? {
        // `dl_iterate_phdr` would wait for a library whose constructor hangs.
        guard let maps = try? FileDescriptor(opening: "/proc/self/maps", O_RDONLY).bytes(count: 1 << 24) else {
            return nil
        }
        let paths = maps.split(separator: UInt8(ascii: "\n")).compactMap { line in
            line.firstIndex(of: UInt8(ascii: "/")).map { String(decoding: line[$0...], as: UTF8.self) }
        }
        return Set(paths)
    }
}
