import Backplane
import BackplaneHost
import CBackplane

/// The library under test, within the process of its checks, and the checks of its entry function.
final class Candidate {
    let path: String
    private let loadFolder: String?
    /// The function that records the next step, which is the only information if the step crashes or hangs.
    let note: (String) -> Void
    /// The answer of the first copy.
    private var first: PluginReport?

    init(path: String, loadFolder: String?, note: @escaping (String) -> Void) {
        (self.path, self.loadFolder, self.note) = (path, loadFolder, note)
    }

    /// Returns a copy of the library that has passed every check, and the library that was loaded from it.
    func load() throws(BackplaneError) -> (file: LibraryFile, library: DynamicLibrary) {
        let file = try LibraryFile.prepare(path, in: try LoadFolder(in: loadFolder))
        note("it was loaded")
        return (file, try DynamicLibrary(loading: file.copy))
    }

    /// Returns the answer of another copy.
    private func describe(_ which: String) throws(BackplaneError) -> PluginReport {
        let (file, library) = try load()
        note("\(which) ran")
        return PluginReport(try file.describe(library))
    }

    /// Checks the answer of a first copy.
    func answer() throws(BackplaneError) -> Verdict {
        first = try describe("its entry")
        return .passed
    }

    /// Compares the answers of two copies in one process, which are like an old and a new generation.
    func repeats() throws(BackplaneError) -> Verdict {
        let other = try describe("the entry of its second copy")
        guard let one = first else { return .skipped("not checked, because there is no first answer") }
        if one == other { return .passed }
        let (classes, others) = (one.components.map(\.className), other.components.map(\.className))
        let difference =
            one.id != other.id || one.version != other.version
            ? "\(one.id) \(one.version), and then \(other.id) \(other.version)"
            : classes == others
                ? "the same classes with other contracts or wires"
                : "\(classes.joined(separator: ", ")), and then \(others.joined(separator: ", "))"
        return .failed(["it registers \(difference); what a plugin registers must depend only on its code"])
    }

    /// Calls the entry function with an answer struct smaller than the current one.
    func staysInBounds() throws(BackplaneError) -> Verdict {
        let entry = unsafeBitCast(try load().library.symbol(LibraryFile.entry), to: PluginDescription.Entry.self)
        let pattern: UInt8 = 0xA5, size = MemoryLayout<bp_answer>.size
        let room = MemoryLayout.offset(of: \bp_answer.problems)!
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 2 * size, alignment: MemoryLayout<bp_answer>.alignment)
        memory.initializeMemory(as: UInt8.self, repeating: pattern)
        for index in 0..<room { memory[index] = 0 }
        memory.storeBytes(of: UInt32(room), as: UInt32.self)
        note("its entry ran with an answer of \(room) bytes")
        _ = StubServices.ask(entry, memory.baseAddress!.assumingMemoryBound(to: bp_answer.self))
        let overrun = (room..<memory.count).first { memory[$0] != pattern }
        return .judging(
            overrun.map {
                "it wrote to byte \($0) of an answer of \(room); write no more than `answer->size` covers"
            }.map { [$0] } ?? [])
    }
}
