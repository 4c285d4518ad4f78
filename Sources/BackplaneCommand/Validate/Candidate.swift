import Backplane
import BackplaneHost
import CBackplane

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
        let library = try loaded(prepared())
        return unsafeBitCast(try library.symbol(LibraryFile.entry), to: PluginDescription.Entry.self)
    }
}

/// Calls of an entry by a host that has nothing but stubs, and no lane for Swift values: to such a host every plugin is one in C.
struct PlainOffer {
    /// Asks the entry; `answer` is what it is handed.
    static func ask(_ entry: PluginDescription.Entry, _ answer: UnsafeMutablePointer<bp_answer>) -> Int32 {
        let version = Array("0.0.0".utf8)
        return version.withBytes { version in
            var offer = bp_offer(
                size: UInt32(MemoryLayout<bp_offer>.size), abi_min: UInt32(BP_ABI_MIN), abi_max: UInt32(BP_ABI_MAX), lane_revision: 0,
                host_version: version, toolchain: .empty, get_interface: StubServices.get)
            return entry(&offer, answer)
        }
    }
}
