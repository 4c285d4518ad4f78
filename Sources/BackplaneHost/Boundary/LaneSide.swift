package import Backplane
import CBackplane
import Synchronization

/// One end of a wire, with everything that determines its lane.
package struct LaneSide: Sendable {
    /// The plugin or program to which the end belongs.
    package let origin: LaneOrigin
    package let contract: ContractDescription
    /// The layout of the contract as the origin compiled it.
    package let layout: LayoutText
    /// The coding of the contract's values.
    let rehearse: Rehearsal

    /// A function that answers an empty request with ``ContractSamples``.
    ///
    /// It answers the samples of another side with an array of ``SampleMistake``, or with the input that resumes a
    /// stream; `nil` if the origin cannot.
    typealias Rehearsal = @Sendable (_ request: [UInt8]) -> [UInt8]?

    init(
        _ origin: LaneOrigin, _ contract: ContractDescription, _ layout: LayoutText,
        _ rehearse: @escaping Rehearsal = { _ in nil }
    ) {
        (self.origin, self.contract, self.layout, self.rehearse) = (origin, contract, layout, rehearse)
    }
}

extension LaneSide {
    /// Creates the end of a plugin; without a native lane, it has neither a layout nor a coding.
    init(
        _ origin: LaneOrigin, _ contract: ContractDescription,
        _ lane: (layout: bp_layout, rehearse: bp_rehearse, type: UnsafeMutableRawPointer)?
    ) {
        self.init(
            origin, contract, LayoutText(lane.map { ($0.layout, $0.type) }),
            rehearsal(lane.map { ($0.rehearse, $0.type) }))
    }

    /// Returns the JSON of the input that reopens an interrupted stream; `nil` if the origin cannot provide it.
    ///
    /// The plugin's function runs on a separate thread, which remains occupied if it never returns.
    ///
    /// - Parameter last: The last element; `nil` before the first one.
    func input(resuming stream: String, begunWith input: [UInt8], after last: [UInt8]?) async -> [UInt8]? {
        let samples = ContractSamples(
            inputs: [stream: [String(decoding: input, as: UTF8.self)]],
            outputs: last.map { [stream: [String(decoding: $0, as: UTF8.self)]] } ?? [:], resumed: stream)
        guard let request = try? JSON.encode(samples, failing: .callInvalidInput) else { return nil }
        let answer = await withCheckedContinuation { continuation in
            let isAsked = HostThread.launch { [rehearse] in continuation.resume(returning: rehearse(request)) }
            if !isAsked { continuation.resume(returning: nil) }
        }
        let inputs = answer.flatMap { try? JSON.decode([String].self, $0, failing: .callInvalidInput) }
        return inputs?.first.map { Array($0.utf8) }
    }

    /// Creates the end of a wire in this program.
    ///
    /// - Throws: `wire.mismatch` for a contract that is not a struct containing only methods.
    package init<C: Contract>(program _: C.Type) throws(BackplaneError) {
        self.init(.program, try ContractDescription(checking: C.self), LayoutText { LayoutReader.layouts(of: C.self) })
        {
            ContractSamples.rehearse($0, as: C.self)
        }
    }
}

/// The plugin or host program at one end of a lane.
package struct LaneOrigin: Sendable, Hashable {
    /// The name used in messages, such as "plugin `org.example.clock`".
    package var name: String
    /// The compiler that built it, as the compiler identifies itself; empty if unknown.
    package var toolchain: String
    /// The lane revision; 0 if it has no native lane.
    package var revision: UInt32
    /// The reason why it is always called in JSON, as a sentence without a full stop; `nil` if it need not be.
    package var encodes: String?
}

extension LaneOrigin {
    /// The program that contains this copy of the SDK.
    package static var program: LaneOrigin {
        LaneOrigin(name: "the host program", toolchain: SwiftCompiler.build, revision: BP_LANE_REVISION)
    }

    var sharesSlots: Bool { revision == Self.program.revision }
}

extension ContractDescription {
    /// Describes a contract as this program compiled it.
    package init<C: Contract>(of _: C.Type) {
        self = Members<C>().description
    }

    /// Checks a contract in the same way as a plugin's contracts at load time, and describes it.
    ///
    /// - Throws: `wire.mismatch` if the members cannot be numbered: a call would reach another method, or none.
    package init<C: Contract>(checking _: C.Type) throws(BackplaneError) {
        let members = Members<C>()
        guard members.problems.isEmpty else {
            throw BackplaneError(.wireMismatch, members.problems.joined(separator: "; "))
        }
        self = members.description
    }
}

/// The text of one side's contract layout, which is requested lazily.
package final class LayoutText: Sendable {
    private let ask: @Sendable () -> String?
    private let answer = Mutex<String??>(nil)

    package init(_ ask: @escaping @Sendable () -> String?) { self.ask = ask }

    /// Returns the text of a ``ContractLayout``; `nil` if the side has none.
    ///
    /// The first call takes tens of microseconds per type.
    package func read() -> String? {
        answer.withLock { answer in
            if let answer { return answer }
            let text = ask()
            answer = .some(text)
            return text
        }
    }
}

extension LayoutText {
    /// Creates the text provided by the other side of the boundary; returns `nil` if it has no native lane.
    convenience init(_ source: (layout: bp_layout, type: UnsafeMutableRawPointer)?) {
        let type = ForeignPointer(raw: source?.type), layout = source?.layout
        self.init { type.raw.flatMap { layout?($0).text } }
    }
}

/// Creates the rehearsal by the other side of the boundary.
private func rehearsal(_ source: (rehearse: bp_rehearse, type: UnsafeMutableRawPointer)?) -> LaneSide.Rehearsal {
    let type = ForeignPointer(raw: source?.type), rehearse = source?.rehearse
    return { request in
        guard let type = type.raw, let rehearse else { return nil }
        let silence = BackplaneError(.callInvalidOutput, "the plugin did not answer before it returned")
        let answer = Callbacks.immediateAnswer(or: silence) { done, context in
            request.withBytes { rehearse(type, $0, done, context) }
        }
        return try? answer.get()
    }
}
