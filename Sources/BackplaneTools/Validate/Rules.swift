import Backplane
import BackplaneDocuments
import BackplaneHost
import CBackplane
import FoundationEssentials

/// The requirements that a plugin must meet.
///
/// The rules are checked in this order, with one process for each part. A rule is skipped if a rule that it needs has
/// failed.
package struct Rule: Sendable {
    /// The identifier in reports and documentation, such as `V01`.
    let id: String
    let title: String
    /// The rules that must pass first.
    let needs: [String]
    let check: Check

    /// The check of a rule; a thrown error is a failure.
    enum Check: Sendable {
        /// A check of the file that does not run its code.
        case file(@Sendable (LibraryFacts) -> Verdict)
        /// A check of the entry function.
        case entry(@Sendable (Candidate) throws(BackplaneError) -> Verdict)
        case components(@Sendable (ComponentProbe) -> Verdict)
    }

    /// The parts of the table, each of which is checked in a separate process.
    package enum Part: String, CaseIterable, Sendable { case file, entry, components }

    var part: Part {
        switch check {
        case .file: .file
        case .entry: .entry
        case .components: .components
        }
    }

    private init(_ id: String, _ title: String, needs: [String] = [], _ check: Check) {
        (self.id, self.title, self.needs, self.check) = (id, title, needs, check)
    }

    private static let loading = ["V01", "V02", "V03"]

    static let all = [
        Rule("V01", "the file is a complete library for this machine that a host trusts", .file(\.isTrusted)),
        Rule("V02", "it exports the entry function", needs: ["V01"], .file(\.hasEntry)),
        Rule("V03", "its identity section fits this host", needs: ["V01"], .file(\.hasIdentity)),
        Rule(
            "V04", "it exports nothing that could be confused with another library's symbols", needs: ["V01"],
            .file(\.exportsNothingElse)),
        Rule(
            "V05", "it needs no libraries except the toolchain's and the system's", needs: ["V01"],
            .file(\.needsNoStrangers)),
        Rule("V06", "it has no retroactive conformances", needs: ["V01"], .file(\.hasNoRetroactiveConformances)),

        Rule(
            "V11", "it loads, and a host accepts the answer of its entry", needs: loading,
            .entry { candidate throws(BackplaneError) in try candidate.answer() }),
        Rule(
            "V12", "two copies of it return the same answer", needs: ["V11"],
            .entry { candidate throws(BackplaneError) in try candidate.repeats() }),
        Rule(
            "V13", "its entry writes only the fields that an older host provides", needs: ["V11"],
            .entry { candidate throws(BackplaneError) in try candidate.staysInBounds() }),

        Rule(
            "V21", "components can be created, including two of the same class", needs: loading + ["V11"],
            .components { $0.create() }),
        Rule(
            "V22", "components activate, suspend, resume and stop in time", needs: ["V21"], .components { $0.live() }),
        Rule(
            "V23", "stopped components leave no processes or files", needs: ["V22"],
            .components { $0.leaveNothing() }),
        Rule(
            "V24", "methods answer malformed JSON with an error", needs: ["V22"],
            .components { $0.refuseMalformedInput() }),
        Rule(
            "V25", "calls are answered, at the latest when they are cancelled", needs: ["V22"],
            .components { $0.heedCancellation() }),
        Rule(
            "V26", "state that was exported and imported is exported again unchanged", needs: ["V22"],
            .components { $0.carryState() }),
        Rule(
            "V27", "streams answer with the requested elements, their end or an error, and can be closed",
            needs: ["V22"], .components { $0.stream() }),
        Rule(
            "V28", "requests are answered once, with the payload that the status requires", needs: ["V21"],
            .components { $0.answerOnce() }),
    ]

    /// Returns the verdict that follows from the verdicts on the needed rules; `nil` if this rule must be checked.
    func verdict(after verdicts: [String: Verdict]) -> Verdict? {
        for id in needs {
            guard let verdict = verdicts[id], verdict.result != .passed else { continue }
            return verdict.result == .failed ? .skipped("\(id) must pass first") : verdict
        }
        return nil
    }
}

/// The result of checking a rule.
package struct Verdict: Codable, Sendable, Hashable {
    package enum Result: String, Codable, Sendable {
        case passed, failed
        case notApplicable = "not applicable"
        /// The rule could not be checked.
        case skipped
    }
    package var result: Result
    /// The findings of a failure, the remarks of a success, or the reason of another result.
    package var details: [String] = []

    static let passed = Verdict(result: .passed)
    static func failed(_ findings: [String]) -> Verdict { Verdict(result: .failed, details: findings) }
    static func notApplicable(_ reason: String) -> Verdict { Verdict(result: .notApplicable, details: [reason]) }
    static func skipped(_ reason: String) -> Verdict { Verdict(result: .skipped, details: [reason]) }

    /// Returns a failure if there are findings.
    static func judging(_ findings: [String], remarks: [String] = []) -> Verdict {
        Verdict(result: findings.isEmpty ? .passed : .failed, details: findings + remarks)
    }

    /// Returns the verdict on calls of methods or streams, given the number of declared ones that could be tried.
    ///
    /// - Parameter untried: The components that could not be activated, with the reasons.
    static func judging(
        _ tried: Int, of declared: Int, _ what: String, _ untried: [String], _ findings: [String],
        remarks: [String] = []
    ) -> Verdict {
        if declared == 0 { return .notApplicable("it has no \(what)") }
        guard tried > 0 else {
            return .skipped(
                (["not checked, because no component with \(what) could be activated"] + untried)
                    .joined(separator: "; "))
        }
        return .judging(findings, remarks: untried.map { "not checked, because \($0)" } + remarks)
    }
}

/// A library's file, as a host judges it before any of its code runs.
struct LibraryFacts: Sendable {
    let isTrusted, hasEntry, hasIdentity: Verdict
    private let image: ELFImage?

    init(of path: String, in folder: LoadFolder) {
        func judge(_ check: () throws(BackplaneError) -> Void) -> Verdict {
            do throws(BackplaneError) { try check() } catch { return .failed([error.message]) }
            return .passed
        }
        var opened: (copy: LibraryCopy, image: ELFImage)?
        isTrusted = judge { () throws(BackplaneError) in
            let copy = try LibraryCopy(of: path, in: folder)
            opened = (copy, try copy.image())
        }
        image = opened?.image
        guard let (copy, image) = opened else {
            // All other rules need the first one.
            (hasEntry, hasIdentity) = (isTrusted, isTrusted)
            return
        }
        hasEntry = judge { () throws(BackplaneError) in try copy.requireEntry(in: image) }
        hasIdentity = judge { () throws(BackplaneError) in _ = try copy.identity(in: image) }
    }

    var exportsNothingElse: Verdict {
        let names = (image?.interposable ?? []).filter { $0 != LibraryFile.entry }
        if names.isEmpty { return .passed }
        let shown = names.prefix(8).map { "`\($0)`" }.joined(separator: ", "),
            more = names.count > 8 ? " and \(names.count - 8) more" : ""
        let advice =
            names.contains { $0.hasPrefix("_Z") }
            ? " or, because C++ still exports its instances of the standard library's templates, link" : ", or link"
        return .failed([
            "it exports \(shown)\(more); make them static, compile with -fvisibility=hidden\(advice) with the version script `\(Self.versionScript)`"
        ])
    }

    private static let versionScript = "{ global: backplane_plugin_entry_v1; local: *; };"

    var needsNoStrangers: Verdict {
        .judging(
            (image?.strangers ?? []).map { stranger in
                let place = stranger.path.map { ", found as \($0)" } ?? ", which is no library of the system"
                return "it needs \(stranger.name)\(place): the process loads one library of that name for all plugins, "
                    + "and keeps it when a rebuilt one is swapped in; link it into the plugin"
            })
    }

    var hasNoRetroactiveConformances: Verdict {
        guard let image, image.hasSwift else { return .notApplicable("it contains no Swift") }
        do throws(ELFImage.Defect) {
            return .judging(
                try image.retroactiveConformances().map {
                    "\($0): a cast through it may run another library's code; declare it for a type of your own"
                })
        } catch {
            return .failed(["its conformances cannot be read: \(error)"])
        }
    }
}

/// The library under test in the process that checks it, and the checks of its entry function.
final class Candidate {
    let path: String
    private let loadFolder: String?
    /// The component definitions of the manifest, which contain configurations for classes.
    private let definitions: [PlacedDefinition]
    /// A function that records the next step, which is all that is known if the step crashes or hangs.
    let note: (String) -> Void
    /// The answer of the first copy.
    private var first: PluginReport?

    init(path: String, loadFolder: String?, manifest: String?, note: @escaping (String) -> Void) {
        (self.path, self.loadFolder, self.note) = (path, loadFolder, note)
        let document = manifest.map { ManifestDocument(contentsOf: $0) }
        definitions =
            document.map { document in
                document.manifest.managers.keys.sorted().flatMap { document.definitions(of: $0) }
            } ?? []
    }

    /// Returns the first configuration of a component class in the manifest, as JSON; `nil` if there is none.
    func configuration(of component: ComponentDescription) -> Data? {
        definitions.first { definition in
            definition.className == component.className && definition.range?.contains(component.version) ?? true
        }.map { ManifestValue.dictionary($0.definition.configuration).json }
    }

    /// Returns a copy of the library that has passed every check, and the library loaded from the copy.
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
