import CBackplane
import Testing

@testable import Backplane

@Suite struct CallTests {
    @Test func `the frame is 64 bytes and says so`() {
        #expect(MemoryLayout<Call>.size == 64)
        #expect(Call().frame.size == 64)
    }

    @Test func `a call that begins here has no deadline, no trace and no path`() {
        let call = Call()
        #expect(call.timeLeft == nil)
        #expect(call.path.isEmpty)
        #expect(withUnsafeBytes(of: call.frame.trace) { $0.allSatisfy { $0 == 0 } })
    }

    @Test func `time only gets shorter`() throws {
        let minute = Call(within: .seconds(60))
        #expect(try #require(minute.within(.seconds(1)).timeLeft) <= .seconds(1))
        #expect(minute.within(.seconds(3_600)).deadline == minute.deadline)
        #expect(try #require(Call().within(.seconds(600)).timeLeft) > .seconds(500))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1e18), .seconds(-1e18), .seconds(9_223_372_036.9), .zero])
    func `no duration is too long or too short for a deadline`(duration: Duration) {
        let call = Call(within: duration)
        #expect(call.deadline != nil)
        #expect((call.deadline! > .now) == (duration > .zero))
    }

    @Test func `a call whose time is over does not begin`() {
        let error = #expect(throws: BackplaneError.self) { try Call(within: .zero).checkDeadline() }
        #expect(error?.code == .callDeadline)
        #expect(throws: Never.self) { try Call(within: .seconds(60)).checkDeadline() }
        #expect(throws: Never.self) { try Call().checkDeadline() }
    }

    @Test func `the path names eight components, and then says that it is full`() {
        var call = Call()
        for number in 1...8 as ClosedRange<UInt32> { bp_call_append(&call.frame, number) }
        #expect(call.path == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(call.frame.flags & BP_CALL_PATH_FULL == 0)

        bp_call_append(&call.frame, 9)

        #expect(call.path == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(call.frame.flags & BP_CALL_PATH_FULL != 0)
    }

    @Test func `the host program is in no path`() {
        var call = Call()
        bp_call_append(&call.frame, 0)
        #expect(call.path.isEmpty)
    }
}
