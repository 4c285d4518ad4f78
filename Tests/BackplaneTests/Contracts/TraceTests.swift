import CBackplane
import Testing

@testable import Backplane

@Suite struct TraceTests {
    private static let example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `a traceparent is read and written`() throws {
        let trace = try #require(Trace(traceparent: Self.example))
        #expect(trace.id == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(trace.traceparent == Self.example)
        let unrecorded = "00-00000000000000000000000000000001-0000000000000001-00"
        #expect(Trace(traceparent: unrecorded)?.traceparent == unrecorded)
    }

    @Test(arguments: [
        "", "00", String(example.dropLast()), example + "0", example + "-00", example.uppercased(),
        "ff" + example.dropFirst(2), "00-\(String(repeating: "0", count: 32))-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", example.replacing("-", with: "_"),
        "0g" + example.dropFirst(2), "é" + example.dropFirst(2),
    ])
    func `what is no traceparent is none`(text: String) {
        #expect(Trace(traceparent: text) == nil)
    }

    @Test func `of a later version, what is known is read`() {
        #expect(Trace(traceparent: "cc" + Self.example.dropFirst(2))?.traceparent == Self.example)
        #expect(Trace(traceparent: "cc" + Self.example.dropFirst(2) + "-more")?.traceparent == Self.example)
        #expect(Trace(traceparent: "cc" + Self.example.dropFirst(2) + "more") == nil)
        // The flags of version 00 are one bit; the others may mean anything.
        #expect(Trace(traceparent: Self.example.dropLast(2) + "ff")?.traceparent == Self.example)
    }

    @Test func `a call that begins has a trace of its own, or continues one`() throws {
        let calls = (0..<1_000).map { _ in Call(within: nil, traceparent: nil) }
        #expect(Set(calls.map { $0.trace?.id }).count == 1_000)
        for call in calls {
            let trace = try #require(call.trace)
            #expect(Trace(traceparent: trace.traceparent)?.traceparent == trace.traceparent, "\(trace.traceparent)")
            #expect(trace.traceparent.hasSuffix("-01"))
        }
        #expect(Call(within: nil, traceparent: Self.example).trace?.traceparent == Self.example)
        #expect(Call(within: nil, traceparent: "nonsense").trace != nil, "another one begins")
        #expect(Call().trace == nil)
    }

    @Test func `the frame has the bytes of the trace in the order of their digits`() {
        let call = Call(within: nil, traceparent: Self.example)
        let bytes = withUnsafeBytes(of: call.frame.trace) { Array($0) }
        #expect(bytes[..<4] == [0x4b, 0xf9, 0x2f, 0x35] && bytes[15] == 0x36)
        #expect(bytes[16..<18] == [0x00, 0xf0] && bytes[23] == 0xb7)
        #expect(bytes[24...] == [1, 0, 0, 0, 0, 0, 0, 0])
        #expect(call.within(.seconds(1)).trace?.traceparent == Self.example)
    }
}
