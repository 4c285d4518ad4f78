import Backplane
import BackplaneBoundary
import BackplaneHost
import CBackplane
import Foundation

/// Questions to the components of a library, asked by a host that has nothing but stubs.
final class Interview {
    /// A component class of the plugin.
    struct Subject {
        let name: String
        let component: bp_component
        let state: bp_state?
        let methods: [MethodDescription]
    }
    let candidate: Candidate
    let subjects: [Subject]
    /// Where components have their own folders, and where the plugin's files are.
    let folder, resources: String
    /// The copy of the library that is loaded.
    let copy: String
    private(set) var questions: [Question] = []
    /// Synchronous methods that took their time.
    var lateSynchronous: [String] = []
    /// The last numbers that were given.
    var lastCall: UInt64 = 0, lastHandle: UInt64 = 0
    /// What the entry gave, for a function in its place, which has nothing but its arguments.
    ///
    /// On the heap: as a global of its own type Swift 6.3 gives it too little room.
    private nonisolated(unsafe) static let given = UnsafeMutablePointer<(status: Int32, answer: bp_answer)>.allocate(capacity: 1)   // one trial, one thread

    init(_ candidate: Candidate) throws(BackplaneError) {
        self.candidate = candidate
        let file = try candidate.prepared(), library = try candidate.loaded(file)
        var names = ResourceFolder.Names()
        resources = try ResourceFolder.copy(besides: file, named: nil, &names) ?? ""
        copy = file.copy
        folder = file.copy + ".data"
        candidate.note("its entry ran")
        let entry = unsafeBitCast(try library.symbol(LibraryFile.entry), to: PluginDescription.Entry.self)
        // An entry is called once for each copy; its answer is read twice, checked and as it is.
        var answer = bp_answer()
        answer.size = UInt32(MemoryLayout<bp_answer>.size)
        let status = PlainOffer.ask(entry, &answer)
        Self.given.initialize(to: (status, answer))
        let description = try PluginDescription(
            asking: { _, answer in
                answer.pointee = Interview.given.pointee.answer
                return Interview.given.pointee.status
            }, getInterface: StubServices.get)
        let components = try Descriptors.read(answer.components, count: answer.component_count, of: "components")
        subjects = zip(description.components, components).map { known, component in
            Subject(
                name: known.description.className, component: component, state: component.state.map { read($0) },
                methods: known.description.contract?.methods ?? [])
        }
    }

    func ask(_ kind: Question.Kind, _ what: String, _ start: (Question) -> Void) -> Question.Answer {
        let question = begin(kind, what, start)
        return question.wait()
    }

    func begin(_ kind: Question.Kind, _ what: String, _ start: (Question) -> Void) -> Question {
        let question = Question(kind, what)
        questions.append(question)
        candidate.note(what)
        start(question)
        return question
    }

    /// How it kept to the rules up to now; gives answers that are too many a moment to come.
    ///
    /// - Parameter patience: in milliseconds.
    func conduct(after patience: UInt32 = 50) -> Conduct {
        usleep(1_000 * patience)
        var conduct = Conduct(repeated: lateSynchronous)
        for question in questions { conduct.take(question) }
        return conduct
    }
}
