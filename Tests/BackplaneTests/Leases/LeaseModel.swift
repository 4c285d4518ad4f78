/// The lease protocol of lease.h as a state machine, each of whose steps is one access to shared memory.
///
/// Callers, three unless said otherwise, make one call each through one slot, going to and fro between two processors.
/// A flipper puts binding 1 in place of binding 0, waits until that has drained, gives its cells up, and does the same
/// the other way round with new cells in binding 0. What must never be: a caller that uses a binding after the flipper
/// saw it drained.
struct LeaseModel {
    enum Counting {
        /// As specified: entries and leaves counted apart, leaves summed first.
        case leavesFirst
        /// The sums taken in the other order.
        case entriesFirst
        /// One counter a processor, up and down.
        case oneCounter
    }
    enum Memory {
        /// Every step is seen by everybody at once, as with sequentially consistent atomics.
        case sequential
        /// What a caller counts stays in its processor's store buffer for a while, as with plain adds in restartable
        /// sequences.
        case buffered
    }

    /// The caller looks once more at the slot when it has counted itself in.
    var rechecks = true
    var counting = Counting.leavesFirst
    var memory = Memory.sequential
    /// The flipper empties all store buffers after its exchange, as `membarrier` does.
    var hasBarrier = true

    var callers = 3
    static let flips = 2

    /// What somebody does next.
    enum Step: Hashable {
        case load(caller: Int)
        case countIn(caller: Int, processor: Int)
        case recheck(caller: Int)
        case use(caller: Int)
        case countOut(caller: Int, processor: Int)
        case flush(caller: Int)
        case exchange
        case barrier
        case readLeaves(processor: Int)
        case readEntries(processor: Int)
    }
}

extension LeaseModel {
    /// Everything that can happen next, and what it leads to.
    func successors(of state: LeaseState) -> [(step: Step, state: LeaseState)] {
        var successors = flipperSteps(state)
        for caller in 0..<callers { successors += callerSteps(caller, state) }
        return successors
    }

    /// A caller uses a binding that the flipper has given up.
    func isViolation(_ state: LeaseState) -> Bool {
        (0..<callers).contains { number in
            let caller = state[caller: number]
            return caller.phase == .uses && state.isDead(caller.binding)
        }
    }

    /// Every call has ended and every flip is done.
    func isOver(_ state: LeaseState) -> Bool {
        state.flip == Self.flips && (0..<callers).allSatisfy { state[caller: $0].phase == .done }
    }

    // MARK: Callers

    private func callerSteps(_ number: Int, _ state: LeaseState) -> [(step: Step, state: LeaseState)] {
        var steps: [(step: Step, state: LeaseState)] = [], next = state, caller = state[caller: number]
        if caller.pending > 0 {
            next.flush(number)
            steps.append((.flush(caller: number), next))
            next = state
        }
        switch caller.phase {
        case .loads:
            caller.binding = state.slot
            caller.phase = .countsIn
            next[caller: number] = caller
            steps.append((.load(caller: number), next))
        case .countsIn:
            caller.phase = rechecks ? .rechecks : .uses
            for processor in 0..<2 {
                if let next = counted(.entry, number, caller, on: processor, state) {
                    steps.append((.countIn(caller: number, processor: processor), next))
                }
            }
        case .rechecks:
            caller.phase = state.slot == caller.binding ? .uses : .givesUp
            next[caller: number] = caller
            steps.append((.recheck(caller: number), next))
        case .uses:
            caller.phase = .countsOut
            next[caller: number] = caller
            steps.append((.use(caller: number), next))
        case .countsOut, .givesUp:
            caller.phase = caller.phase == .countsOut ? .done : .loads
            for processor in 0..<2 {
                if let next = counted(.leave, number, caller, on: processor, state) {
                    steps.append((.countOut(caller: number, processor: processor), next))
                }
            }
        case .done:
            break
        }
        return steps.map { ($0.step, $0.state.gathered()) }
    }

    /// `nil`: the store buffer has no room, or the caller would have to move, which empties it first.
    private func counted(
        _ count: LeaseState.Count, _ number: Int, _ caller: LeaseState.Caller, on processor: Int, _ state: LeaseState
    ) -> LeaseState? {
        var state = state, caller = caller
        switch memory {
        case .sequential:
            state[caller: number] = caller
            state.count(count, caller.binding, processor)
        case .buffered:
            guard caller.buffer(count, on: processor) else { return nil }
            state[caller: number] = caller
        }
        return state
    }

    // MARK: The flipper

    private func flipperSteps(_ state: LeaseState) -> [(step: Step, state: LeaseState)] {
        guard state.flip < Self.flips else { return [] }
        var next = state
        let old = state.draining
        next.place += 1
        switch state.place {
        case LeaseState.exchange:
            next.setDead(1 - old, false)  // with new cells
            next.slot = 1 - old
            if !(memory == .buffered && hasBarrier) { next.place = LeaseState.firstRead }
            return [(.exchange, next.gathered())]
        case LeaseState.barrier:
            for caller in 0..<callers { while next[caller: caller].pending > 0 { next.flush(caller) } }
            return [(.barrier, next.gathered())]
        case let place:
            let read = place - LeaseState.firstRead, processor = read % 2
            let isLeaves = (read < 2) == (counting == .leavesFirst)
            let (entered, left) = (state.counter(.entry, old, processor), state.counter(.leave, old, processor))
            next.sum += counting == .oneCounter ? entered - left : isLeaves ? -left : entered
            if read == (counting == .oneCounter ? 1 : 3) {
                let isDrained = next.sum == 0
                next.sum = 0
                next.place = isDrained ? LeaseState.exchange : LeaseState.firstRead
                if isDrained {
                    next.setDead(old, true)
                    next.flip += 1
                }
            }
            return [
                (
                    counting != .oneCounter && isLeaves
                        ? .readLeaves(processor: processor) : .readEntries(processor: processor), next.gathered()
                )
            ]
        }
    }
}
