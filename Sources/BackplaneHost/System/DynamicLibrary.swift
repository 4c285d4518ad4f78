package import Backplane
import Glibc

/// A shared library that has been loaded into this process, for the lifetime of the process.
///
/// It cannot be closed: the Swift runtime registers an image's types and cannot unregister them, so the next dynamic
/// cast after a `dlclose` would read unmapped memory. A library that is no longer used stays in memory.
package struct DynamicLibrary: Sendable {
    package let path: String
    /// The handle from `dlopen`, which is written once and never closed and can therefore be shared like a number.
    private nonisolated(unsafe) let handle: UnsafeMutableRawPointer  // constant

    /// Creates a library by loading the file at `path` and running its constructors.
    ///
    /// All symbols are resolved immediately, so that a missing one is an error here and not a crash later. None of the
    /// library's own symbols are made available to other libraries. If `path` was loaded before, the result is that
    /// earlier library, regardless of the file to which the path now refers.
    ///
    /// - Throws: `plugin.load-failed`.
    package init(loading path: String) throws(BackplaneError) {
        guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
            throw BackplaneError(
                .pluginLoadFailed,
                "the system cannot load it: \(Self.lastError); link its dependencies into it, because it is loaded from a copy in another folder (`$ORIGIN`)",
                at: path)
        }
        (self.path, self.handle) = (path, handle)
    }

    package func symbol(_ name: String) throws(BackplaneError) -> UnsafeMutableRawPointer {
        guard let address = dlsym(handle, name) else {
            throw BackplaneError(.pluginNoEntry, "the library has no symbol `\(name)`: \(Self.lastError)", at: path)
        }
        return address
    }

    private static var lastError: String {
        dlerror().map { String(cString: $0) } ?? "no reason given"
    }
}
