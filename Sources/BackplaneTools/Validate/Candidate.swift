import Backplane
import BackplaneBoundary
import BackplaneHost

/// The library under test, within the process of a trial.
struct Candidate {
    let path: String
    let loadFolder: String?
    /// The function that records the next step, which is the only information if the step crashes or hangs.
    let note: (String) -> Void

    func image() throws(BackplaneError) -> ImageFacts {
        ImageFacts(of: path, in: try LoadFolder(in: loadFolder))
    }

    func answer() throws(BackplaneError) -> PluginReport {
        let file = try prepared(), library = try loaded(file)
        note("its entry ran")
        return PluginReport(try file.describe(library))
    }

    /// Returns a copy of the library that has passed every check.
    func prepared() throws(BackplaneError) -> LibraryFile {
        try LibraryFile.prepare(path, in: try LoadFolder(in: loadFolder))
    }

    /// Loads a copy without its resources, because copying them would open files while open files are being counted.
    func loaded(_ file: LibraryFile) throws(BackplaneError) -> DynamicLibrary {
        note("it was loaded")
        return try DynamicLibrary(loading: file.copy)
    }

    /// Returns the entry function without calling it.
    func entry() throws(BackplaneError) -> PluginDescription.Entry {
        try entry(of: try loaded(prepared()))
    }

    func entry(of library: DynamicLibrary) throws(BackplaneError) -> PluginDescription.Entry {
        unsafeBitCast(try library.symbol(LibraryFile.entry), to: PluginDescription.Entry.self)
    }
}
