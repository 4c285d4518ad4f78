import Backplane
import BackplaneHost
import CBackplane
import Foundation
import Synchronization

/// A host that consists of stubs, and makes requests to the components of a library.
final class ComponentProbe {
    /// A component class of the plugin.
    struct Subject {
        let name: String
        let component: bp_component
        let state: bp_state?
        let methods: [MethodDescription]
        /// The configuration as JSON, or `nil` if the manifest has none for the class.
        let configuration: Data?

        /// The numbers of the methods that can be called: neither streams nor of an unknown kind.
        var callable: [Int] { methods.indices.filter { methods[$0].kind == .async || methods[$0].isSynchronous } }
        var streams: [Int] { methods.indices.filter { methods[$0].isStream } }
    }

    /// An instance of a component class.
    struct Instance {
        let subject: Subject
        let pointer: UnsafeMutableRawPointer
        /// The handle under which it uses the host's services.
        let handle: UInt64

        func name(of method: Int) -> String { "`\(subject.name).\(subject.methods[method].name)`" }
    }

    let subjects: [Subject]
    /// The files and processes that existed before the entry function ran.
    let before: Remains.Baseline
    private let candidate: Candidate
    /// The folder that contains the components' own folders, and the folder of the plugin's resources.
    private let folder, resources: String
    private(set) var questions: [Question] = []
    /// The synchronous methods that did not answer before they returned.
    private(set) var lateSynchronous: [String] = []
    private var lastCall: UInt64 = 0, lastHandle: UInt64 = 0
    /// The answer of the entry function, global because the function that replaces it cannot capture anything.
    ///
    /// It is allocated on the heap, because Swift 6.3 reserves too little memory for a global of this type.
    private nonisolated(unsafe) static let given = UnsafeMutablePointer<(status: Int32, answer: bp_answer)>.allocate(
        capacity: 1)  // one probe, one thread

    init(_ candidate: Candidate) throws(BackplaneError) {
        self.candidate = candidate
        let (file, library) = try candidate.load()
        resources = try ResourceFolder.copy(besides: file, named: nil) ?? ""
        folder = file.copy + ".data"
        let entry = unsafeBitCast(try library.symbol(LibraryFile.entry), to: PluginDescription.Entry.self)
        before = Remains.Baseline()
        candidate.note("its entry ran")
        // An entry function is called once for each copy. The answer is used twice: as a checked description and
        // unchecked.
        var answer = bp_answer()
        answer.size = UInt32(MemoryLayout<bp_answer>.size)
        let status = StubServices.ask(entry, &answer)
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
                methods: known.description.contract?.methods ?? [],
                configuration: candidate.configuration(of: known.description))
        }
    }

    func note(_ step: String) { candidate.note(step) }

    func ask(_ kind: Question.Kind, _ what: String, _ start: (Question) -> Void) -> Question.Answer {
        begin(kind, what, start).wait()
    }

    func begin(_ kind: Question.Kind, _ what: String, _ start: (Question) -> Void) -> Question {
        let question = Question(kind, what)
        questions.append(question)
        note(what)
        start(question)
        return question
    }

    // MARK: Instances

    /// Creates an instance with the manifest's configuration or an empty one, and all of its wires connected.
    ///
    /// - Throws: The component's error, or `plugin.invalid-answer` if it reports success without an instance.
    func make(_ subject: Subject, _ which: String = "") throws(BackplaneError) -> Instance {
        mkdir(folder, 0o700)
        lastHandle += 1
        let handle = lastHandle, home = "\(folder)/\(handle)", role = subject.component.role
        // Components that use the network create their folders themselves.
        if role == UInt32(BP_DATA_ACCESS_CONTROLLER) { mkdir(home, 0o700) }
        let wires =
            (try? Descriptors.read(subject.component.wires, count: subject.component.wire_count, of: "wires")) ?? []
        let connections = wires.enumerated().map { number, wire in
            bp_connection(
                size: UInt32(MemoryLayout<bp_connection>.size), reserved: 0, label: wire.label,
                wire: UInt64(number + 1), slot: nil)
        }
        let answer = ask(.step, "\(which)\(subject.name) was created") { question in
            Array(subject.configuration ?? Data("{}".utf8)).withBytes { configuration in
                Array((role != UInt32(BP_MANAGER) ? home : "").utf8).withBytes { home in
                    Array(resources.utf8).withBytes { resources in
                        connections.withUnsafeBufferPointer { connections in
                            var creation = bp_creation(
                                size: UInt32(MemoryLayout<bp_creation>.size), number: UInt32(handle), handle: handle,
                                configuration: configuration, folder: home, wires: connections.baseAddress,
                                wire_count: connections.count, resources: resources)
                            subject.component.create?(
                                subject.component.type, &creation, Question.created, question.context)
                        }
                    }
                }
            }
        }
        guard answer.isOK else {
            StubServices.endTimers(of: handle)
            throw BackplaneError(.componentFailed, answer.reason)
        }
        guard let pointer = UnsafeMutableRawPointer(bitPattern: answer.instance) else {
            throw BackplaneError(.pluginInvalidAnswer, "reported that it was created but returned no instance")
        }
        return Instance(subject: subject, pointer: pointer, handle: handle)
    }

    /// Creates and activates an instance.
    ///
    /// - Throws: The component's error, as a sentence without its subject.
    func activated(_ subject: Subject) throws(BackplaneError) -> Instance {
        let instance: Instance
        do throws(BackplaneError) {
            instance = try make(subject)
        } catch {
            throw BackplaneError(error.code, "could not be created: \(error.message)")
        }
        if let answer = run("activated", subject.component.activate, instance), !answer.isOK {
            release(instance)
            throw BackplaneError(.componentFailed, "could not be activated: \(answer.reason)")
        }
        return instance
    }

    /// Runs a step of the life cycle; a step that the component does not implement has no answer.
    func run(_ verb: String, _ step: bp_step?, _ instance: Instance) -> Question.Answer? {
        guard let step else { return nil }
        return run(verb, instance) { step($0, Question.done, $1) }
    }

    func run(
        _ verb: String, _ instance: Instance, kind: Question.Kind = .step,
        _ start: (_ instance: UnsafeMutableRawPointer, _ context: UnsafeMutableRawPointer) -> Void
    ) -> Question.Answer {
        ask(kind, "\(instance.subject.name) was \(verb)") { start(instance.pointer, $0.context) }
    }

    /// Releases an instance, which receives no further calls.
    func release(_ instance: Instance) {
        StubServices.endTimers(of: instance.handle)
        note("\(instance.subject.name) was released")
        instance.subject.component.release?(instance.pointer)
    }

    /// Runs a closure with every component that can be created and activated; all components exist until the end.
    ///
    /// - Parameter patience: The time to wait for late answers before the instances are released, in tenths of a
    ///   second.
    /// - Returns: The components with methods that could not be activated, with the reasons.
    func withActive(patience: Int = 0, _ body: (Instance) -> Void) -> [String] {
        var active: [Instance] = [], untried: [String] = []
        for subject in subjects {
            do throws(BackplaneError) {
                let instance = try activated(subject)
                active.append(instance)
                body(instance)
            } catch {
                if !subject.methods.isEmpty { untried.append("\(subject.name) \(error.message)") }
            }
        }
        for _ in 0..<(active.isEmpty ? 0 : patience) {
            note("late answers were awaited")
            usleep(100_000)
        }
        for instance in active {
            _ = run("stopped", instance.subject.component.stop ?? instance.subject.component.suspend, instance)
            release(instance)
        }
        return untried
    }

    // MARK: Calls and streams

    /// Calls a method, waits for its answer, and checks whether a synchronous method answered before it returned.
    func call(_ method: Int, _ input: ProbeInput, _ instance: Instance) -> Question.Answer {
        beginCall(method, input, instance, cancels: false).wait()
    }

    /// Calls a method, cancels the call immediately, and returns the answer with the delay since the cancellation.
    func cancelledCall(_ method: Int, _ input: ProbeInput, _ instance: Instance) -> (
        answer: Question.Answer, delay: Duration
    ) {
        let question = beginCall(method, input, instance, cancels: true), cancelled = ContinuousClock.now
        return (question.wait(), cancelled.duration(to: .now))
    }

    private func beginCall(_ method: Int, _ input: ProbeInput, _ instance: Instance, cancels: Bool) -> Question {
        let subject = instance.subject, name = instance.name(of: method), id = nextCall()
        let question = begin(.call, "\(name) was called with \(input.name)\(cancels ? " and cancelled" : "")") {
            question in
            var frame = bp_call()
            frame.size = UInt32(MemoryLayout<bp_call>.size)
            input.bytes.withBytes {
                subject.component.call?(
                    instance.pointer, UInt32(method), $0, &frame, id, Question.done, question.context)
            }
            // The second cancellation must have no effect.
            if cancels { for _ in 0..<2 { subject.component.cancel?(instance.pointer, id) } }
        }
        if subject.methods[method].isSynchronous, question.all.isEmpty {
            lateSynchronous.append("\(name) is synchronous and had not answered when it returned")
        }
        return question
    }

    /// Opens a stream, and returns its number.
    func open(_ method: Int, _ input: ProbeInput, _ instance: Instance) -> UInt64 {
        let id = nextCall()
        note("\(instance.name(of: method)) was opened with \(input.name)")
        var frame = bp_call()
        frame.size = UInt32(MemoryLayout<bp_call>.size)
        input.bytes.withBytes {
            instance.subject.component.open?(instance.pointer, UInt32(method), $0, &frame, id)
        }
        return id
    }

    func next(_ id: UInt64, _ max: UInt32, _ stream: String, _ instance: Instance) -> Question {
        begin(.elements, "\(stream) was asked for \(max == 1 ? "an element" : "\(max) elements")") { question in
            instance.subject.component.next?(instance.pointer, id, max, Question.done, question.context)
        }
    }

    func close(_ id: UInt64, _ stream: String, _ instance: Instance) {
        _ = ask(.step, "\(stream) was closed") { question in
            instance.subject.component.close?(instance.pointer, id, Question.done, question.context)
        }
    }

    private func nextCall() -> UInt64 {
        lastCall += 1
        return lastCall
    }
}

/// A request to a component, and all answers to it.
///
/// The context that a plugin receives is a request that is never freed, so that late or repeated answers do no harm.
final class Question: Sendable {
    struct Answer: Sendable {
        var status: Int32
        var payload: [UInt8]
        /// The instance, in the answer to a creation.
        var instance: UInt

        var isOK: Bool { status == Int32(BP_OK) }
        /// The message of an error answer.
        var reason: String {
            let text = EncodedAnswer(status: status, payload: payload)
            do { _ = try text.get() } catch { return error.message }
            return "no reason"
        }
    }
    /// The meaning of the payload of a successful answer.
    enum Kind: Sendable { case call, step, state, elements }
    let kind: Kind
    /// The description of the request in findings, such as "`Clock.now` was called with `{`".
    let what: String
    private let answers = Mutex<[Answer]>([])
    private let isAnswered = DispatchSemaphore(value: 0)

    init(_ kind: Kind, _ what: String) { (self.kind, self.what) = (kind, what) }

    var context: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static let done: bp_done = { context, status, payload in take(context, status, payload, nil) }
    static let created: bp_created = { context, status, instance, payload in take(context, status, payload, instance) }

    private static func take(
        _ context: UnsafeMutableRawPointer?, _ status: Int32, _ payload: bp_bytes, _ instance: UnsafeMutableRawPointer?
    ) {
        guard let context else { return }
        let question = Unmanaged<Question>.fromOpaque(context).takeUnretainedValue()
        let answer = Answer(status: status, payload: payload.array, instance: UInt(bitPattern: instance))
        question.answers.withLock { $0.append(answer) }
        question.isAnswered.signal()
    }

    /// Waits for the first answer without a timeout, because the parent process enforces one.
    func wait() -> Answer {
        while true {
            if let answer = all.first { return answer }
            isAnswered.wait()
        }
    }

    func wait(atMost milliseconds: Int) -> Answer? {
        if all.isEmpty { _ = isAnswered.wait(timeout: .now() + .milliseconds(milliseconds)) }
        return all.first
    }

    var all: [Answer] { answers.withLock { $0 } }
}

/// The input of a call to a method.
struct ProbeInput: Sendable {
    /// The name of the input in findings.
    let name: String
    let bytes: [UInt8]

    private init(_ name: String, _ bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
    private init(_ json: String) { self.init("`\(json)`", Array(json.utf8)) }

    /// Inputs that are not valid JSON.
    static let malformed = [
        ProbeInput("nothing", []), ProbeInput("{"), ProbeInput("[1,"), ProbeInput("nul"), ProbeInput(#"{"a":}"#),
        ProbeInput("1 2"), ProbeInput("a text that is not UTF-8", [0x22, 0xFF, 0x22]),
        ProbeInput("100,000 open brackets", Array(repeating: UInt8(ascii: "["), count: 100_000)),
    ]

    /// Inputs that many methods accept.
    static let samples = [ProbeInput("null"), ProbeInput("0"), ProbeInput(#""""#), ProbeInput("{}"), ProbeInput("[]")]
}

/// The processes and files that code has left behind since a baseline, and the files that it has closed.
struct Remains: Sendable {
    private(set) var processes: [String] = []
    private(set) var files: [String] = [], closed: [String] = []

    /// The state before the code under test ran.
    struct Baseline {
        fileprivate let processes = Descendants(), files = Remains.openFiles()
    }

    /// Compares the current state with a baseline; waits up to 2.5 seconds for processes to end.
    init(since before: Baseline) {
        // Listing takes a while if many processes run, so the pauses grow.
        for pause: UInt32 in [0, 10, 20, 40, 80, 160, 320, 640, 1_280] {
            usleep(1_000 * pause)
            processes = Descendants(besides: before.processes).names.values.sorted()
            if processes.isEmpty { break }
        }
        let now = Self.openFiles()
        files = now.filter { before.files[$0.key] != $0.value }.map { file in
            // The inode numbers of pipes and sockets carry no information.
            file.value.hasPrefix("/") ? file.value : String(file.value.prefix { $0 != ":" })
        }
        closed = before.files.filter { now[$0.key] != $0.value }.keys.map { number in
            number < 3
                ? ["standard input", "standard output", "standard error"][number] : "a file that was open before"
        }
    }

    var findings: [String] {
        Self.counted(processes).map { "a process called `\($0.name)` keeps running\($0.times)" }
            + Self.counted(files).map { "\($0.name) is open\($0.times); close it in suspend or stop" }
            + Self.counted(closed).map { "it closed \($0.name), which it did not open" }
    }

    /// The open files of this process, by descriptor.
    private static func openFiles() -> [Int: String] {
        let manager = FileManager.default, folder = "/proc/self/fd"
        let names = (try? manager.contentsOfDirectory(atPath: folder)) ?? []
        // The list includes the descriptor for listing the folder, which is closed by now.
        let targets = names.compactMap(Int.init).compactMap { number in
            (try? manager.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")).map { (number, $0) }
        }
        return Dictionary(uniqueKeysWithValues: targets)
    }

    /// Returns the distinct strings, sorted, with the number of occurrences if there are several.
    private static func counted(_ names: [String]) -> [(name: String, times: String)] {
        Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }.map {
            ($0.key, $0.value > 1 ? " \($0.value) times" : "")
        }
    }
}
