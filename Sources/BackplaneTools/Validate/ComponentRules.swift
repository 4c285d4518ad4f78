import Backplane
import BackplaneDocuments
import CBackplane
import Foundation

// The checks of the components, in the order of the rules.
extension ComponentProbe {
    // MARK: Life

    func create() -> Verdict {
        var made = false, refused: [String] = [], findings: [String] = []
        for subject in subjects {
            let first: Instance
            do throws(BackplaneError) {
                first = try make(subject)
            } catch {
                if error.code == .pluginInvalidAnswer {
                    findings.append("\(subject.name) \(error.message)")
                } else {
                    let configuration =
                        subject.configuration == nil
                        ? "an empty configuration (--manifest supplies another)" : "the manifest's configuration"
                    refused.append(
                        "\(subject.name), with \(configuration) and wires that answer errors: \(error.message)")
                }
                continue
            }
            made = true
            do throws(BackplaneError) {
                release(try make(subject, "a second "))
            } catch {
                findings.append(
                    "a second \(subject.name) cannot be created beside the first, as in a swap: \(error.message); acquire exclusive resources in activate"
                )
            }
            release(first)
        }
        guard made || !findings.isEmpty else {
            return .notApplicable(
                refused.isEmpty
                    ? "it registers no components" : "no component could be created: " + refused.joined(separator: "; ")
            )
        }
        return .judging(findings, remarks: refused.map { "not checked: \($0)" })
    }

    func live() -> Verdict {
        var lived = false, refused: [String] = [], findings: [String] = []
        for subject in subjects {
            guard let instance = try? make(subject) else { continue }
            defer { release(instance) }
            let component = subject.component
            // A component with stubs as its collaborators may refuse activation; it is then not stopped.
            if let answer = run("activated", component.activate, instance), !answer.isOK {
                refused.append("\(subject.name), which answered an error when it was activated: \(answer.reason)")
                continue
            }
            lived = true
            let steps: [(verb: String, step: bp_step?)] = [
                ("suspended", component.suspend), ("resumed", component.resume ?? component.activate),
                ("stopped", component.stop ?? component.suspend),
            ]
            for (verb, step) in steps {
                guard let answer = run(verb, step, instance), !answer.isOK else { continue }
                findings.append("\(subject.name) answered an error when it was \(verb): \(answer.reason)")
            }
        }
        guard lived || refused.isEmpty else {
            return findings.isEmpty
                ? .skipped(
                    "not checked, because no component could be activated: " + refused.joined(separator: "; "))
                : .failed(findings)
        }
        return .judging(findings, remarks: refused.map { "not checked further: \($0)" })
    }

    /// Looks for processes and files that were left behind since the entry function ran, after releasing all instances.
    func leaveNothing() -> Verdict {
        note("left-over processes and files were counted")
        return .judging(Remains(since: before).findings)
    }

    // MARK: Calls

    private var declaredMethods: Int { subjects.reduce(0) { $0 + $1.callable.count } }

    func refuseMalformedInput() -> Verdict {
        var tried = 0, findings: [String] = []
        let untried = withActive { instance in
            tried += instance.subject.callable.count
            for method in instance.subject.callable {
                let accepted = ProbeInput.malformed.filter { call(method, $0, instance).isOK }.map(\.name)
                guard !accepted.isEmpty else { continue }
                findings.append(
                    "\(instance.name(of: method)) answered \(accepted.joined(separator: ", ")) with a result; answer BP_INVALID_INPUT"
                )
            }
        }
        return .judging(tried, of: declaredMethods, "methods", untried, findings)
    }

    /// Cancels calls of all methods; the check completes only if all calls are answered.
    func heedCancellation() -> Verdict {
        var tried = 0, deaf: [String] = [], findings: [String] = []
        // A second answer may come long after the first, so keep the instances for a while.
        let untried = withActive(patience: 10) { instance in
            let subject = instance.subject
            tried += subject.callable.count
            if let cancel = subject.component.cancel {
                note("a call that \(subject.name) does not know was cancelled")
                cancel(instance.pointer, .max)
                StubServices.keepWaiting()
            } else if !subject.methods.isEmpty {
                deaf.append(subject.name)
            }
            for method in subject.callable {
                if subject.component.cancel == nil {
                    for input in ProbeInput.samples { _ = call(method, input, instance) }
                } else if let ignored = ignoredCancellation(method, instance) {
                    findings.append(ignored)
                }
            }
            StubServices.giveUp()
        }
        return .judging(
            tried, of: declaredMethods, "methods", untried, findings,
            remarks: deaf.map { "\($0) has no `cancel` function, and answered without" })
    }

    /// Cancels calls of a method, and returns the first cancellation that the method ignored, if any.
    ///
    /// A cancellation counts as ignored only if it is ignored twice, because the machine may be busy.
    private func ignoredCancellation(_ method: Int, _ instance: Instance) -> String? {
        var found: String?
        for input in ProbeInput.samples {
            var late = cancelledCall(method, input, instance)
            if Self.isIgnored(late.answer.status, after: late.delay) { late = cancelledCall(method, input, instance) }
            guard found == nil, Self.isIgnored(late.answer.status, after: late.delay) else { continue }
            let tenths = Int64(late.delay / .milliseconds(100))
            found =
                "\(instance.name(of: method)), called with \(input.name) and cancelled, answered "
                + "\(late.answer.isOK ? "with a result" : "with an error other than BP_CANCELLED")"
                + " \(tenths / 10).\(tenths % 10) s later; when `cancel` is called, answer BP_CANCELLED"
        }
        return found
    }

    /// Returns whether the status and the delay of an answer show that a cancellation was ignored.
    static func isIgnored(_ status: Int32, after delay: Duration) -> Bool {
        status != Int32(BP_CANCELLED) && delay > .milliseconds(500)
    }

    // MARK: State

    /// Hands state over from one instance to another.
    func carryState() -> Verdict {
        var tried = 0, declared = 0, untried: [String] = [], findings: [String] = [], remarks: [String] = []
        for subject in subjects {
            guard let state = subject.state, let export = state.export_state, let take = state.import_state else {
                continue
            }
            declared += 1
            let old: Instance, new: Instance
            do throws(BackplaneError) {
                old = try activated(subject)
            } catch {
                untried.append("\(subject.name) \(error.message)")
                continue
            }
            defer { release(old) }
            do throws(BackplaneError) {
                new = try make(subject, "a second ")
            } catch {
                untried.append("a second \(subject.name) could not be created: \(error.message)")
                continue
            }
            defer { release(new) }
            func exported(_ instance: Instance) -> Question.Answer {
                run("asked for its state", instance, kind: .state) { export($0, state.version, Question.done, $1) }
            }
            tried += 1
            _ = run("suspended", subject.component.suspend, old)
            let first = exported(old)
            guard first.isOK else {
                findings.append("\(subject.name) does not export its state: \(first.reason)")
                continue
            }
            let taken = run("given the state that it exported", new) { instance, context in
                first.payload.withBytes { take(instance, state.version, $0, Question.done, context) }
            }
            if !taken.isOK {
                findings.append("\(subject.name) does not import what it exported: \(taken.reason)")
                continue
            }
            switch JSONComparison(Data(first.payload), Data(exported(new).payload)) {
            case .equal: break
            case .reordered:
                remarks.append(
                    "\(subject.name) exports arrays in a different order than it imported them, as with a `Set`")
            case .different:
                findings.append(
                    "\(subject.name) exports a different state than it imported; `importState` must adopt all of it")
            }
        }
        return .judging(tried, of: declared, "state", untried, findings, remarks: remarks)
    }

    // MARK: Streams

    /// Reads all streams; the check completes only if every one of them can be closed.
    func stream() -> Verdict {
        let declared = subjects.reduce(0) { $0 + $1.streams.count }
        var tried = 0, findings: [String] = []
        // A second answer may come long after the first, so keep the instances for a while.
        let untried = withActive(patience: declared == 0 ? 0 : 3) { instance in
            tried += instance.subject.streams.count
            for method in instance.subject.streams {
                for input in ProbeInput.samples { findings += read(method, input, instance) }
                for input in ProbeInput.malformed { findings += refused(method, input, instance) }
            }
        }
        return .judging(tried, of: declared, "streams", untried, findings.distinct)
    }

    /// Requests elements five times, or until there are no more, and closes the stream.
    private func read(_ method: Int, _ input: ProbeInput, _ instance: Instance) -> [String] {
        let name = instance.name(of: method), id = open(method, input, instance)
        var findings: [String] = [], pending: Question?
        for max in [1, 64, 2, 64, 64] as [UInt32] {
            let question = next(id, max, "\(name), opened with \(input.name),", instance)
            // A stream may have no elements for any length of time.
            guard let answer = question.wait(atMost: 200) else {
                pending = question
                break
            }
            guard answer.isOK else { break }
            if let fault = Self.fault(of: answer.payload, asked: max) { findings.append("\(name) answered \(fault)") }
        }
        close(id, name, instance)
        // Closing ends the wait for elements.
        if let pending {
            note("\(name) was closed with a request for elements unanswered")
            _ = pending.wait()
        }
        return findings
    }

    /// Opens a stream with malformed JSON.
    private func refused(_ method: Int, _ input: ProbeInput, _ instance: Instance) -> [String] {
        let name = instance.name(of: method), id = open(method, input, instance)
        let question = next(id, 1, "\(name), opened with \(input.name),", instance)
        let answer = question.wait(atMost: 200)
        close(id, name, instance)
        if answer == nil { _ = question.wait() }
        guard let answer, answer.isOK || answer.status == Int32(BP_END) else { return [] }
        return ["\(name) accepted \(input.name); answer the first request for elements with BP_INVALID_INPUT"]
    }

    private static func fault(of payload: [UInt8], asked max: UInt32) -> String? {
        guard case .array(let elements)? = try? DocumentValue(json: Data(payload)) else {
            return "a request for elements with something else than a JSON array"
        }
        return (1...Int(max)).contains(elements.count)
            ? nil : "a request for \(max) element\(max == 1 ? "" : "s") with \(elements.count)"
    }

    // MARK: Answers

    /// Judges all answers in this process, after a short wait for superfluous ones.
    func answerOnce() -> Verdict {
        if questions.isEmpty { return .skipped("not checked, because the other checks ended their process") }
        usleep(50_000)
        var findings = lateSynchronous
        for question in questions {
            let answers = question.all
            guard let first = answers.first else { continue }
            if answers.count > 1 { findings.append("it answered \(answers.count) times when \(question.what)") }
            if let fault = Self.fault(of: first, to: question.kind) {
                findings.append("it answered \(fault) when \(question.what)")
            }
        }
        let all = findings.distinct
        return .judging(all.count > 8 ? all.prefix(8) + ["and \(all.count - 8) more"] : all)
    }

    /// The maximum size of an error, in bytes; a host truncates a longer one.
    private static let errorLimit = 65_536

    static func fault(of answer: Question.Answer, to kind: Question.Kind) -> String? {
        if kind == .elements, answer.status == Int32(BP_END) { return nil }
        guard (Int32(BP_OK)...Int32(BP_ERROR)).contains(answer.status) else {
            return "with the unknown status \(answer.status)"
        }
        if answer.isOK {
            return [.call, .elements].contains(kind) && !JSONReader.isJSON(answer.payload)
                ? "a result that is not JSON" : nil
        }
        if answer.payload.count > errorLimit { return "an error of more than \(errorLimit) bytes" }
        guard let text = String(validating: answer.payload, as: UTF8.self) else { return "an error that is not UTF-8" }
        if answer.status == Int32(BP_ERROR) {
            return (try? JSONDecoder().decode(BackplaneError.self, from: Data(answer.payload))) == nil
                ? "BP_ERROR without the JSON of an error" : nil
        }
        return text.printable == text ? nil : "an error with control characters"
    }
}

extension [String] {
    fileprivate var distinct: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
