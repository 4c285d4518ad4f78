import Backplane
import BackplaneBoundary
import BackplaneHost
import CBackplane
import Foundation

/// A series of requests to the components of a library, from a host that consists of stubs.
final class ComponentProbe {
    /// A component class of the plugin.
    struct Subject {
        let name: String
        let component: bp_component
        let state: bp_state?
        let methods: [MethodDescription]

        /// The numbers of the methods that can be called: neither streams nor of an unknown kind.
        var callable: [Int] { methods.indices.filter { methods[$0].kind == .async || methods[$0].isSynchronous } }
        /// The numbers of the methods that are streams.
        var streams: [Int] { methods.indices.filter { methods[$0].isStream } }
    }
    let candidate: Candidate
    let subjects: [Subject]
    /// The folder that contains the components' own folders, and the folder of the plugin's resources.
    let folder, resources: String
    /// The path of the loaded copy of the library.
    let copy: String
    private(set) var questions: [Question] = []
    /// The synchronous methods that did not answer before they returned.
    var lateSynchronous: [String] = []
    /// The last call number and the last handle that were assigned.
    var lastCall: UInt64 = 0, lastHandle: UInt64 = 0
    /// The answer of the entry function, global because the function that replaces it cannot capture anything.
    ///
    /// It is allocated on the heap, because Swift 6.3 reserves too little memory for a global of this type.
    private nonisolated(unsafe) static let given = UnsafeMutablePointer<(status: Int32, answer: bp_answer)>.allocate(
        capacity: 1)  // one trial, one thread

    init(_ candidate: Candidate) throws(BackplaneError) {
        self.candidate = candidate
        let file = try candidate.prepared(), library = try candidate.loaded(file)
        var names = ResourceFolder.Names()
        resources = try ResourceFolder.copy(besides: file, named: nil, &names) ?? ""
        copy = file.copy
        folder = file.copy + ".data"
        candidate.note("its entry ran")
        let entry = unsafeBitCast(try library.symbol(LibraryFile.entry), to: PluginDescription.Entry.self)
        // An entry function is called once for each copy; its answer is used twice, as a checked description and as it
        // is.
        var answer = bp_answer()
        answer.size = UInt32(MemoryLayout<bp_answer>.size)
        let status = PlainOffer.ask(entry, &answer)
        Self.given.initialize(to: (status, answer))
        let description = try PluginDescription(
            asking: { _, answer in
                answer.pointee = ComponentProbe.given.pointee.answer
                return ComponentProbe.given.pointee.status
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

    /// Returns the compliance with the rules so far, after a short wait for superfluous answers.
    ///
    /// - Parameter patience: The length of the wait, in milliseconds.
    func conduct(after patience: UInt32 = 50) -> Conduct {
        usleep(1_000 * patience)
        var conduct = Conduct(repeated: lateSynchronous)
        for question in questions { conduct.take(question) }
        return conduct
    }
}
