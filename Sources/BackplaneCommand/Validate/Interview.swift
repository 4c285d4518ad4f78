import Backplane
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
    private let folder: String
    private let resources: String
    private var questions: [Question] = []
    private var lateSynchronous: [String] = []
    private var lastCall: UInt64 = 0
    private var lastHandle: UInt64 = 0
    /// What the entry gave, for a function in its place, which has nothing but its arguments.
    ///
    /// On the heap: as a global of its own type Swift 6.3 gives it too little room.
    private nonisolated(unsafe) static let given = UnsafeMutablePointer<(status: Int32, answer: bp_answer)>.allocate(capacity: 1)   // one trial, one thread

    init(_ candidate: Candidate) throws(BackplaneError) {
        self.candidate = candidate
        let file = try candidate.prepared(), library = try candidate.loaded(file)
        var names = ResourceFolder.Names()
        resources = try ResourceFolder.copy(besides: file, named: nil, &names) ?? ""
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
        let components = try Descriptors<bp_component>(answer.components, count: answer.component_count, of: "components")
        subjects = zip(description.components, components).map { known, component in
            Subject(
                name: known.description.className, component: component, state: component.state.map { read($0) },
                methods: known.description.contract?.methods ?? [])
        }
    }

    /// An instance of a class, and how it is spoken to.
    struct Instance {
        let subject: Subject
        let pointer: UnsafeMutableRawPointer
    }

    private func ask(_ kind: Question.Kind, _ what: String, _ start: (Question) -> Void) -> Question.Answer {
        let question = begin(kind, what, start)
        return question.wait()
    }

    private func begin(_ kind: Question.Kind, _ what: String, _ start: (Question) -> Void) -> Question {
        let question = Question(kind, what)
        questions.append(question)
        candidate.note(what)
        start(question)
        return question
    }

    /// Makes an instance with an empty configuration and all of its wires connected.
    ///
    /// - Throws: what the component says against it; `plugin.invalid-answer` where it says nothing and is not there.
    func make(_ subject: Subject, _ which: String = "") throws(BackplaneError) -> Instance {
        mkdir(folder, 0o700)
        let home = "\(folder)/\(lastHandle)"
        mkdir(home, 0o700)
        let wires = (try? Descriptors<bp_wire>(subject.component.wires, count: subject.component.wire_count, of: "wires")).map(Array.init) ?? []
        lastHandle += 1
        let handle = lastHandle, isController = subject.component.role == UInt32(BP_DATA_ACCESS_CONTROLLER)
        let answer = ask(.step, "\(which)\(subject.name) was made") { question in
            let connections = wires.enumerated().map { number, wire in
                bp_connection(
                    size: UInt32(MemoryLayout<bp_connection>.size), reserved: 0, label: wire.label, wire: UInt64(number + 1), slot: nil)
            }
            Array("{}".utf8).withBytes { configuration in
                Array((isController ? home : "").utf8).withBytes { home in
                    Array(resources.utf8).withBytes { resources in
                        connections.withUnsafeBufferPointer { connections in
                            var creation = bp_creation(
                                size: UInt32(MemoryLayout<bp_creation>.size), number: UInt32(handle), handle: handle, configuration: configuration,
                                folder: home, wires: connections.baseAddress, wire_count: connections.count, resources: resources)
                            subject.component.create?(subject.component.type, &creation, Question.created, question.context)
                        }
                    }
                }
            }
        }
        guard answer.isOK else { throw BackplaneError(.componentFailed, answer.reason) }
        guard let pointer = UnsafeMutableRawPointer(bitPattern: answer.instance) else {
            throw BackplaneError(.pluginInvalidAnswer, "said that it was made and gave no instance")
        }
        return Instance(subject: subject, pointer: pointer)
    }

    /// The last that an instance hears.
    func release(_ instance: Instance) {
        candidate.note("\(instance.subject.name) was released")
        instance.subject.component.release?(instance.pointer)
    }

    /// A step that a component does not have is done at once.
    func run(_ verb: String, _ step: bp_step?, _ instance: Instance) -> Question.Answer? {
        guard let step else { return nil }
        return run(verb, instance) { step($0, Question.done, $1) }
    }

    func run(
        _ verb: String, _ instance: Instance, kind: Question.Kind = .step, _ start: (_ instance: UnsafeMutableRawPointer, _ context: UnsafeMutableRawPointer) -> Void
    ) -> Question.Answer {
        ask(kind, "\(instance.subject.name) was \(verb)") { start(instance.pointer, $0.context) }
    }

    /// Calls a method, waits for its answer, and has a look at whether a synchronous one was in time.
    func call(_ method: Int, _ input: CallInput, _ instance: Instance, cancels: Bool = false) -> Question.Answer {
        let subject = instance.subject, description = subject.methods[method]
        let question = beginCall(method, input, instance, cancels: cancels)
        if case .sync = description.kind, question.all.isEmpty {
            lateSynchronous.append("`\(subject.name).\(description.name)` is synchronous and had not answered when it returned")
        }
        return question.wait()
    }

    private func beginCall(_ method: Int, _ input: CallInput, _ instance: Instance, cancels: Bool) -> Question {
        let subject = instance.subject, name = "`\(subject.name).\(subject.methods[method].name)`"
        lastCall += 1
        let id = lastCall
        return begin(.call, "\(name) was called with \(input.name)\(cancels ? " and cancelled" : "")") { question in
            var frame = bp_call()
            frame.size = UInt32(MemoryLayout<bp_call>.size)
            input.bytes.withBytes { subject.component.call?(instance.pointer, UInt32(method), $0, &frame, id, Question.done, question.context) }
            // Again after the answer: then it is about nothing.
            if cancels { for _ in 0..<2 { subject.component.cancel?(instance.pointer, id) } }
        }
    }

    /// How it kept to the rules up to now; gives answers that are too many a moment to come.
    func conduct() -> Conduct {
        usleep(50_000)
        var conduct = Conduct(repeated: lateSynchronous)
        for question in questions { conduct.take(question) }
        return conduct
    }
}
