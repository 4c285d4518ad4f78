import Backplane
import CBackplane
import Glibc

// Instances of the plugin's classes, from creation to release.
extension ComponentProbe {
    /// An instance of a component class.
    struct ProbedInstance {
        let subject: Subject
        let pointer: UnsafeMutableRawPointer
        /// The handle under which it uses the host's services.
        let handle: UInt64
    }

    /// Creates an instance with an empty configuration and all of its wires connected.
    ///
    /// - Throws: The component's error, or `plugin.invalid-answer` if it reports success without an instance.
    func make(_ subject: Subject, _ which: String = "") throws(BackplaneError) -> ProbedInstance {
        mkdir(folder, 0o700)
        let home = "\(folder)/\(lastHandle)"
        let role = subject.component.role
        // Components that use the network create theirs themselves.
        if role == UInt32(BP_DATA_ACCESS_CONTROLLER) { mkdir(home, 0o700) }
        let wires =
            (try? Descriptors.read(subject.component.wires, count: subject.component.wire_count, of: "wires")) ?? []
        lastHandle += 1
        let handle = lastHandle, hasFolder = role != UInt32(BP_MANAGER)
        let answer = ask(.step, "\(which)\(subject.name) was created") { question in
            let connections = wires.enumerated().map { number, wire in
                bp_connection(
                    size: UInt32(MemoryLayout<bp_connection>.size), reserved: 0, label: wire.label,
                    wire: UInt64(number + 1), slot: nil)
            }
            Array("{}".utf8).withBytes { configuration in
                Array((hasFolder ? home : "").utf8).withBytes { home in
                    Array(resources.utf8).withBytes { resources in
                        connections.withUnsafeBufferPointer { connections in
                            var creation = bp_creation(
                                size: UInt32(MemoryLayout<bp_creation>.size), number: UInt32(handle), handle: handle,
                                configuration: configuration,
                                folder: home, wires: connections.baseAddress, wire_count: connections.count,
                                resources: resources)
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
        return ProbedInstance(subject: subject, pointer: pointer, handle: handle)
    }

    /// Releases an instance, which receives no further calls.
    func release(_ instance: ProbedInstance) {
        StubServices.endTimers(of: instance.handle)
        candidate.note("\(instance.subject.name) was released")
        instance.subject.component.release?(instance.pointer)
    }

    /// Runs a step of the life cycle; a step that the component does not implement has no answer.
    func run(_ verb: String, _ step: bp_step?, _ instance: ProbedInstance) -> Question.Answer? {
        guard let step else { return nil }
        return run(verb, instance) { step($0, Question.done, $1) }
    }

    func run(
        _ verb: String, _ instance: ProbedInstance, kind: Question.Kind = .step,
        _ start: (_ instance: UnsafeMutableRawPointer, _ context: UnsafeMutableRawPointer) -> Void
    ) -> Question.Answer {
        ask(kind, "\(instance.subject.name) was \(verb)") { start(instance.pointer, $0.context) }
    }

    /// Runs a closure with every component that can be created and activated; all of them exist until the last has
    /// finished.
    ///
    /// - Parameter patience: The time to wait for late answers before the instances are released, in tenths of a
    ///   second.
    /// - Returns: The components with methods that could not be activated, with the reasons.
    func withActive(patience: Int = 0, _ body: (ProbedInstance) -> Void) -> [String] {
        var active: [ProbedInstance] = [], untried: [String] = []
        for subject in subjects {
            do throws(BackplaneError) {
                let instance = try activated(subject)
                active.append(instance)
                body(instance)
            } catch  where !subject.methods.isEmpty {
                untried.append("\(subject.name) \(error.message)")
            } catch {}
        }
        for _ in 0..<(active.isEmpty ? 0 : patience) {
            candidate.note("it might have answered once more")
            usleep(100_000)
        }
        for instance in active {
            _ = run("stopped", instance.subject.component.stop ?? instance.subject.component.suspend, instance)
            release(instance)
        }
        return untried
    }

    /// Creates and activates an instance.
    ///
    /// - Throws: The component's error, as a sentence without its subject.
    func activated(_ subject: Subject) throws(BackplaneError) -> ProbedInstance {
        let instance: ProbedInstance
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
}
