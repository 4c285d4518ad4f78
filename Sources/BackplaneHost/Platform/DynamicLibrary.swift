import Glibc
package import Backplane

/// A shared library that has been loaded into this process, for good.
///
/// There is no way to close one: the Swift runtime registers an image's types and cannot forget them, so the next dynamic
/// cast after a `dlclose` would read unmapped memory. A library that is no longer used just stays.
package struct DynamicLibrary: Sendable {
    /// The path it was loaded from.
    package let path: String
    /// Written once and never closed: as shareable as the number that it is.
    private nonisolated(unsafe) let handle: UnsafeMutableRawPointer      // constant

    /// Loads the library at `path`, and runs its constructors.
    ///
    /// All its symbols are resolved now, so that a missing one is an error here and not a crash later. None of them is offered
    /// to other libraries. A path that was loaded before gives the library of that time, whatever lies there now.
    package init(loading path: String) throws(BackplaneError) {
        guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
            throw BackplaneError(
                .pluginLoadFailed,
                "the system cannot load it: \(Self.lastError); link what it needs into it: beside a copy there is nothing (`$ORIGIN`)",
                at: path)
        }
        (self.path, self.handle) = (path, handle)
    }

    /// The address of the symbol `name`.
    package func symbol(_ name: String) throws(BackplaneError) -> UnsafeMutableRawPointer {
        guard let address = dlsym(handle, name) else {
            throw BackplaneError(.pluginNoEntry, "has no symbol `\(name)`: \(Self.lastError)", at: path)
        }
        return address
    }

    /// What went wrong last on this thread, in the system's words.
    private static var lastError: String {
        dlerror().map { String(cString: $0) } ?? "no reason given"
    }
}
