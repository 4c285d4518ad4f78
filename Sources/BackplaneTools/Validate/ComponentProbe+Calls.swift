import Backplane
import CBackplane

// Calls of the components' methods.
extension ComponentProbe {
    var declaredMethods: Int { subjects.reduce(0) { $0 + $1.callable.count } }

    /// Calls a method, waits for its answer, and checks whether a synchronous method answered before it returned.
    func call(_ method: Int, _ input: ProbeInput, _ instance: ProbedInstance) -> Question.Answer {
        beginCall(method, input, instance, cancels: false).wait()
    }

    /// Calls a method, cancels the call immediately, and returns the answer with the delay since the cancellation.
    func cancelledCall(_ method: Int, _ input: ProbeInput, _ instance: ProbedInstance) -> (
        answer: Question.Answer, delay: Duration
    ) {
        let question = beginCall(method, input, instance, cancels: true), cancelled = ContinuousClock.now
        return (question.wait(), cancelled.duration(to: .now))
    }

    private func beginCall(_ method: Int, _ input: ProbeInput, _ instance: ProbedInstance, cancels: Bool) -> Question {
        let subject = instance.subject, name = "`\(subject.name).\(subject.methods[method].name)`"
        lastCall += 1
        let id = lastCall
        let question = begin(.call, "\(name) was called with \(input.name)\(cancels ? " and cancelled" : "")") {
            question in
            var frame = bp_call()
            frame.size = UInt32(MemoryLayout<bp_call>.size)
            input.bytes.withBytes {
                subject.component.call?(
                    instance.pointer, UInt32(method), $0, &frame, id, Question.done, question.context)
            }
            // The second cancellation comes after the answer or the first one, and must have no effect.
            if cancels { for _ in 0..<2 { subject.component.cancel?(instance.pointer, id) } }
        }
        if subject.methods[method].isSynchronous, question.all.isEmpty {
            lateSynchronous.append("\(name) is synchronous and had not answered when it returned")
        }
        return question
    }
}
