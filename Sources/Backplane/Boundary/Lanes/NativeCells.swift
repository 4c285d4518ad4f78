public import CBackplane
import Synchronization

/// The function of a method as its wire calls it.
///
/// A cell stores it with its context, behind a pointer in a binding.
///
/// The function's type spells out its pointers and its isolation, so that separately built images agree on the calling
/// convention and no reabstraction is needed. Cells are not copyable and are called through a borrowing method.
/// Anything else would retain the closure, and every core would contend for that one reference count.
@usableFromInline
typealias AsyncFunction<Input, Output> =
    nonisolated(nonsending) @Sendable (
        UnsafeRawPointer, UnsafePointer<Input>, UnsafeMutablePointer<Output?>, UnsafePointer<Call>
    ) async throws(BackplaneError) -> Void

@usableFromInline
typealias SyncFunction<Input, Output> =
    @Sendable (
        UnsafeRawPointer, UnsafePointer<Input>, UnsafeMutablePointer<Output?>, UnsafePointer<Call>
    ) throws(BackplaneError) -> Void

@frozen @usableFromInline
struct AsyncCell<Input, Output>: ~Copyable {
    @usableFromInline let function: AsyncFunction<Input, Output>
    @usableFromInline let context: UnsafeRawPointer

    /// Calls the method.
    ///
    /// - Parameter number: The number of the calling component, for the path.
    @inlinable @inline(__always)
    nonisolated(nonsending) borrowing func invoke(_ input: Input, _ call: Call, from number: UInt32)
        async throws(BackplaneError) -> Output
    {
        var input = input, call = call
        bp_call_append(&call.frame, number)
        var output: Output?
        try await function(context, &input, &output, &call)
        return output.unsafelyUnwrapped  // a function that does not throw has written it
    }
}

@frozen @usableFromInline
struct SyncCell<Input, Output>: ~Copyable {
    @usableFromInline let function: SyncFunction<Input, Output>
    @usableFromInline let context: UnsafeRawPointer

    /// Calls the method.
    ///
    /// - Parameter number: The number of the calling component, for the path.
    @inlinable @inline(__always)
    borrowing func invoke(_ input: Input, _ call: Call, from number: UInt32) throws(BackplaneError) -> Output {
        var input = input, call = call
        bp_call_append(&call.frame, number)
        var output: Output?
        try function(context, &input, &output, &call)
        return output.unsafelyUnwrapped  // a function that does not throw has written it
    }
}

/// The cells of one binding, by member.
///
/// Encoded cells live as long as the process, native cells as long as their instance.
package struct Cells: @unchecked Sendable {  // written once, before it is shared
    package let pointer: UnsafePointer<UnsafeRawPointer?>?

    package init(_ pointer: UnsafePointer<UnsafeRawPointer?>?) { self.pointer = pointer }

    static let none = Cells(nil)

    init(of members: [(name: String, type: any EncodedMember.Type)], calling target: EncodedTarget) {
        pointer = forever(
            members.map { member in member.type.makeCell(EncodedMethod(name: member.name, target: target)) })
    }

    /// Creates the cells of an encoded wire of contract `C` for the host program's own use.
    package init<C: Contract>(_: C.Type, calling target: EncodedTarget) {
        self.init(of: Members<C>().all, calling: target)
    }
}

/// The cells of one component, which native wires to it call.
///
/// They live as long as the component.
struct InstanceCells: @unchecked Sendable {  // written once, freed when no more calls are possible
    private let bodies: [(any MethodBody)?]
    private let table: UnsafeMutableBufferPointer<UnsafeRawPointer?>

    init(_ bodies: [(any MethodBody)?], _ held: UnsafeRawPointer) {
        self.bodies = bodies
        table = .allocate(capacity: bodies.count)
        _ = table.initialize(from: bodies.map { $0.map { UnsafeRawPointer($0.makeCell(held)) } })
    }

    /// The table of cells; `nil` for a component without methods.
    var pointer: UnsafePointer<UnsafeRawPointer?>? { table.isEmpty ? nil : UnsafePointer(table.baseAddress) }

    func free() {
        for (body, cell) in zip(bodies, table) {
            if let body, let cell { body.freeCell(UnsafeMutableRawPointer(mutating: cell)) }
        }
        table.deallocate()
    }
}

/// A component as the functions of its method table access it: borrowed, never retained.
@frozen @usableFromInline
struct Held<C: Component>: ~Copyable {
    @usableFromInline let component: C
    @usableFromInline let failures: CallFailures

    init(_ component: C, calls: NativeCalls? = nil) {
        self.component = component
        failures = CallFailures(calls)
    }

    @inlinable @inline(__always)
    nonisolated(nonsending) borrowing func async<Input, Output>(
        _ body: nonisolated(nonsending) (C, Input, Call) async throws -> Output, _ input: Input, _ call: Call
    ) async throws(BackplaneError) -> Output {
        do {
            guard let calls = failures.calls else { return try await body(component, input, call) }
            let place = calls.enter()
            defer { calls.leave(place) }
            return try await body(component, input, call)
        } catch { throw failures.recording(error) }
    }

    @inlinable @inline(__always)
    borrowing func sync<Input, Output>(
        _ body: (C, Input, Call) throws -> Output, _ input: Input, _ call: Call
    ) throws(BackplaneError) -> Output {
        do { return try body(component, input, call) } catch { throw failures.recording(error) }
    }

    @inlinable @inline(__always)
    nonisolated(nonsending) borrowing func stream<Input, Element>(
        _ body: nonisolated(nonsending) (C, Input, StreamSender<Element>, Call) async throws -> Void,
        _ input: Input, _ elements: StreamSender<Element>, _ call: Call
    ) async throws(BackplaneError) {
        do { try await body(component, input, elements, call) } catch {
            throw elements.channel.isClosed ? BackplaneError(thrown: error) : failures.recordingUnlessInterrupted(error)
        }
        if let interruption = failures.interruption() { throw interruption }
    }
}

/// The failed calls of an instance, and its calls in flight if a swap may have to cancel them.
///
/// Successful calls do not touch it.
///
/// It is an object, because a value in ``Held`` would be destroyed by the runtime, which would look for the
/// conformances of its parts.
@usableFromInline
final class CallFailures: Sendable {
    /// The number of failed calls, and the error of the last one with its time in seconds since 1970.
    struct Tally: Sendable {
        var count: UInt64 = 0
        var last: (error: BackplaneError, time: Double)?
    }
    private let tallied = Mutex(Tally())
    /// The list of the calls in flight; `nil` if they never have to be cancelled.
    @usableFromInline let calls: NativeCalls?
    /// The flag that is set while the component is suspended or about to be.
    let isSuspended = Atomic<Bool>(false)

    init(_ calls: NativeCalls?) { self.calls = calls }

    var tally: Tally { tallied.withLock(\.self) }

    /// Records the error of a stream's body as ``recording(_:)`` does, unless the error is an interruption.
    ///
    /// Once the component is suspended, the stream counts as interrupted.
    @inline(never) @usableFromInline
    func recordingUnlessInterrupted(_ error: any Error) -> BackplaneError {
        if isSuspended.load(ordering: .relaxed) { return .streamInterrupted }
        let error = BackplaneError(thrown: error)
        return error.code == .streamInterrupted ? error : recording(error)
    }

    /// Returns an interruption once the component is suspended: a body that then returns may not have sent everything.
    ///
    /// The error is returned, not thrown, for the same reason as in `Call.lateError()`.
    @inline(never) @usableFromInline
    func interruption() -> BackplaneError? {
        isSuspended.load(ordering: .relaxed) ? .streamInterrupted : nil
    }

    /// Records an error, unless the call was cancelled, and returns it as the caller receives it.
    @inline(never) @usableFromInline
    func recording(_ error: any Error) -> BackplaneError {
        let error = BackplaneError(thrown: error)
        guard error.code != .callCancelled else { return error }
        let time = Double.secondsSince1970
        tallied.withLock { tally in
            tally.count &+= 1
            tally.last = (error, time)
        }
        return error
    }
}

/// The tasks of the native calls into one component, which a swap may have to cancel.
///
/// A native call runs in its caller's task, which is unknown to other code. A component therefore lists its calls here,
/// but only if swaps wait for them. Entering and leaving cost one uncontended atomic operation each.
///
/// This type is a pointer rather than an object, so that a call retains nothing.
@frozen @usableFromInline
struct NativeCalls: @unchecked Sendable {  // the words are atomics, freed when no more calls are possible
    private typealias Word = UnsafeMutablePointer<Atomic<UInt>>
    /// The address of the words of the calls, each 0 if unused, followed by the address of the next block.
    @usableFromInline let block: UnsafeMutableRawPointer
    private static let count = 64

    init() { block = UnsafeMutableRawPointer(Self.makeBlock()) }

    private var words: Word { block.assumingMemoryBound(to: Atomic<UInt>.self) }

    private static func makeBlock() -> Word {
        let words = Word.allocate(capacity: count + 1)
        for index in 0...count { (words + index).initialize(to: Atomic(0)) }
        return words
    }

    // `UnsafeCurrentTask` is one pointer, to a task that is alive while it is listed: its call has not returned.

    /// Lists the current task and returns its position; returns `nil` outside any task.
    @usableFromInline
    func enter() -> UnsafeMutableRawPointer? {
        guard let task = withUnsafeCurrentTask(body: { $0.map { unsafeBitCast($0, to: UInt.self) } }) else {
            return nil
        }
        var words = words
        while true {
            for step in 0..<Self.count {
                // Tasks begin at different places, so that calls of several cores seldom use the same word.
                let word = words + ((Int(truncatingIfNeeded: task >> 8) &+ step) & (Self.count - 1))
                guard word.pointee.load(ordering: .relaxed) == 0 else { continue }
                if word.pointee.compareExchange(expected: 0, desired: task, ordering: .acquiring).exchanged {
                    return UnsafeMutableRawPointer(word)
                }
            }
            words = Self.next(after: words) ?? Self.append(to: words)
        }
    }

    /// Removes the current task from the list, after any cancellation in progress.
    @usableFromInline
    func leave(_ place: UnsafeMutableRawPointer?) {
        guard let word = place?.assumingMemoryBound(to: Atomic<UInt>.self) else { return }
        while true {
            let task = word.pointee.load(ordering: .relaxed) & ~Self.isBeingCancelled
            if word.pointee.compareExchange(expected: task, desired: 0, ordering: .releasing).exchanged { return }
        }
    }

    /// Cancels the tasks of all calls in flight.
    ///
    /// A task that is being cancelled stays listed, and therefore alive, until it has been cancelled.
    func cancelAll() {
        var block: Word? = words
        while let words = block {
            for index in 0..<Self.count {
                let word = words + index, task = word.pointee.load(ordering: .relaxed)
                guard task != 0, task & Self.isBeingCancelled == 0,
                    word.pointee.compareExchange(
                        expected: task, desired: task | Self.isBeingCancelled, ordering: .acquiringAndReleasing
                    ).exchanged
                else { continue }
                unsafeBitCast(task, to: UnsafeCurrentTask.self).cancel()
                word.pointee.store(task, ordering: .releasing)
            }
            block = Self.next(after: words)
        }
    }

    func free() {
        var block: Word? = words
        while let words = block {
            block = Self.next(after: words)
            words.deinitialize(count: Self.count + 1).deallocate()
        }
    }

    private static func next(after words: Word) -> Word? {
        Word(bitPattern: words[count].load(ordering: .acquiring))
    }

    /// Returns the block after the last one, which another call may have added at the same time.
    private static func append(to words: Word) -> Word {
        let new = makeBlock()
        let (isOurs, other) = words[count].compareExchange(
            expected: 0, desired: UInt(bitPattern: new), ordering: .acquiringAndReleasing)
        if isOurs { return new }
        new.deinitialize(count: count + 1).deallocate()
        return Word(bitPattern: other)!
    }

    /// The bit of a word whose task is being cancelled; it is free because tasks are aligned.
    private static let isBeingCancelled: UInt = 1
}
