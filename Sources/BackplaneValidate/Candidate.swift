import Backplane
import BackplaneBoundary
import BackplaneHost

/// The library of a trial, in the trial's own process.
struct Candidate {
    let path: String
    let loadFolder: String?
    /// Told what is done next: all that is known of what crashes or hangs.
    let note: (String) -> Void

    func image() throws(BackplaneError) -> ImageFacts {
        ImageFacts(of: path, in: try LoadFolder(in: loadFolder))
    }

    func answer() throws(BackplaneError) -> PluginReport {
        let file = try prepared(), library = try loaded(file)
        note("its entry ran")
        return PluginReport(try file.describe(library))
    }

    /// A copy of the library that passed every check.
    func prepared() throws(BackplaneError) -> LibraryFile {
        try LibraryFile.prepare(path, in: try LoadFolder(in: loadFolder))
    }

    /// What was not copied yet stays out: bringing it would open files while others are counted.
    func loaded(_ file: LibraryFile) throws(BackplaneError) -> DynamicLibrary {
        note("it was loaded")
        return try DynamicLibrary(loading: file.copy)
    }

    /// Its entry, not called yet.
    func entry() throws(BackplaneError) -> PluginDescription.Entry {
        try entry(of: try loaded(prepared()))
    }

    func entry(of library: DynamicLibrary) throws(BackplaneError) -> PluginDescription.Entry {
        unsafeBitCast(try library.symbol(LibraryFile.entry), to: PluginDescription.Entry.self)
    }
}
