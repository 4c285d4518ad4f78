import Backplane
import CBackplane
import Foundation

/// Which components can be made.
struct CreationFacts: Codable, Sendable {
    var made: [String] = []
    /// Those that cannot, and what they say.
    var refused: [String] = []
    /// Those of which there cannot be two, and those that are nowhere.
    var findings: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        guard !made.isEmpty || !findings.isEmpty else {
            let why = refused.isEmpty ? "it brings no components" : "no component could be made: " + refused.joined(separator: "; ")
            return Verdicts(Requirement.ofComponents, .notApplicable(why)).merging(Conduct.verdicts(of: [conduct])) { $1.isFailure ? $1 : $0 }
        }
        return [.creation: Verdict(findings: findings, remarks: refused.map { "not tried: \($0)" })]
    }
}

struct InputFacts: Codable, Sendable {
    var methods = 0
    var findings: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        [.malformed: methods == 0 ? .notApplicable("it has no methods") : Verdict(findings: findings)]
    }
}

struct CancellationFacts: Codable, Sendable {
    var methods = 0
    /// Components that cannot be told.
    var deaf: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        [.cancellation: methods == 0 ? .notApplicable("it has no methods") : .passed(deaf.map { "\($0) has no `cancel` function, and answered without" })]
    }
}

struct LifeFacts: Codable, Sendable {
    var findings: [String] = []
    var threads: [String] = []
    var files: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        let left = threads.counted.map { "a thread called `\($0.name)` goes on\($0.times); end it in suspend or stop" }
            + files.counted.map { "\($0.name) is open\($0.times); close it in suspend or stop" }
        return [.stop: Verdict(findings: findings), .leftovers: Verdict(findings: left)]
    }
}

struct StateFacts: Codable, Sendable {
    var components = 0
    var findings: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        [.state: components == 0 ? .notApplicable("no component has state") : Verdict(findings: findings)]
    }
}

extension [String] {
    /// Each once, and how often it is there where that is more.
    fileprivate var counted: [(name: String, times: String)] {
        Dictionary(map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }.map { ($0.key, $0.value > 1 ? " \($0.value) times" : "") }
    }
}

extension Interview {
    func creation() throws(BackplaneError) -> CreationFacts {
        var facts = CreationFacts()
        for subject in subjects {
            let first: Instance
            do throws(BackplaneError) {
                first = try make(subject)
            } catch {
                guard error.code != .pluginInvalidAnswer else {
                    facts.findings.append("\(subject.name) \(error.message)")
                    continue
                }
                facts.refused.append("\(subject.name), with an empty configuration and wires that answer errors: \(error.message)")
                continue
            }
            facts.made.append(subject.name)
            do throws(BackplaneError) {
                release(try make(subject, "a second "))
            } catch {
                facts.findings.append(
                    "a second \(subject.name) cannot be made beside the first, as in a swap: \(error.message); take what is exclusive in activate")
            }
            release(first)
        }
        facts.conduct = conduct()
        return facts
    }

    func input() throws(BackplaneError) -> InputFacts {
        var facts = InputFacts()
        try withActive { instance in
            facts.methods += instance.subject.methods.count
            for method in instance.subject.methods.indices {
                let accepted = CallInput.malformed.filter { call(method, $0, instance).isOK }.map(\.name)
                guard !accepted.isEmpty else { continue }
                let name = "\(instance.subject.name).\(instance.subject.methods[method].name)"
                facts.findings.append("`\(name)` answered \(accepted.joined(separator: ", ")) with a result; answer BP_INVALID_INPUT")
            }
        }
        facts.conduct = conduct()
        return facts
    }

    func cancellation() throws(BackplaneError) -> CancellationFacts {
        var facts = CancellationFacts()
        try withActive { instance in
            let subject = instance.subject
            facts.methods += subject.methods.count
            if let cancel = subject.component.cancel {
                candidate.note("a call was cancelled that \(subject.name) does not know")
                cancel(instance.pointer, .max)
                StubServices.keepWaiting()
            } else if !subject.methods.isEmpty {
                facts.deaf.append(subject.name)
            }
            for method in subject.methods.indices {
                for input in CallInput.samples { _ = call(method, input, instance, cancels: subject.component.cancel != nil) }
            }
            StubServices.giveUp()
        }
        facts.conduct = conduct()
        return facts
    }

    func life() throws(BackplaneError) -> LifeFacts {
        var facts = LifeFacts()
        for subject in subjects {
            let threads = RunningThreads(), files = OpenFiles()
            guard let instance = try? make(subject) else { continue }
            let component = subject.component
            let steps: [(verb: String, step: bp_step?)] = [
                ("activated", component.activate), ("suspended", component.suspend), ("resumed", component.resume ?? component.activate),
                ("stopped", component.stop ?? component.suspend),
            ]
            for (verb, step) in steps {
                guard let answer = run(verb, step, instance), !answer.isOK else { continue }
                facts.findings.append("\(subject.name) answered an error when it was \(verb): \(answer.reason)")
                // With wires that lead nowhere it may have every reason; what was not activated is not stopped.
                if verb == "activated" {
                    facts.findings.removeLast()
                    break
                }
            }
            release(instance)
            let left = remains(since: threads, files)
            facts.threads += left.threads
            facts.files += left.files
        }
        facts.conduct = conduct()
        return facts
    }

    func state() throws(BackplaneError) -> StateFacts {
        var facts = StateFacts()
        for subject in subjects {
            guard let state = subject.state, let export = state.export_state, let take = state.import_state else { continue }
            guard let old = try? make(subject), let new = try? make(subject, "a second ") else { continue }
            facts.components += 1
            func exported(_ instance: Instance) -> Question.Answer {
                run("asked for its state", instance, kind: .state) { export($0, state.version, Question.done, $1) }
            }
            if let answer = run("activated", subject.component.activate, old), !answer.isOK { continue }
            _ = run("suspended", subject.component.suspend, old)
            let first = exported(old)
            guard first.isOK else {
                facts.findings.append("\(subject.name) does not export its state")
                continue
            }
            let taken = run("handed the state that it exported", new) { instance, context in
                first.payload.withBytes { take(instance, state.version, $0, Question.done, context) }
            }
            if !taken.isOK {
                facts.findings.append("\(subject.name) does not import what it exported: \(taken.reason)")
            } else if exported(new).payload != first.payload {
                facts.findings.append("\(subject.name) exports other bytes than it imported; encode dictionaries and sets in a fixed order")
            }
            release(new)
            release(old)
        }
        facts.conduct = conduct()
        return facts
    }

    /// Gives every component a go that can be made and activated.
    private func withActive(_ body: (Instance) throws(BackplaneError) -> Void) throws(BackplaneError) {
        for subject in subjects {
            guard let instance = try? make(subject) else { continue }
            if let answer = run("activated", subject.component.activate, instance), !answer.isOK {
                release(instance)
                continue
            }
            try body(instance)
            _ = run("stopped", subject.component.stop ?? subject.component.suspend, instance)
            release(instance)
        }
    }

    /// What is still there that was not before; threads take a moment to end.
    private func remains(since threads: RunningThreads, _ files: OpenFiles) -> (threads: [String], files: [String]) {
        for _ in 0..<50 where !RunningThreads().since(threads).isEmpty { usleep(10_000) }
        return (RunningThreads().since(threads), OpenFiles().since(files))
    }
}
