/// All states that a model can come to, each visited once, the nearest first.
struct Exploration {
    /// How many states there are; as far as they were visited where there is a counterexample.
    private(set) var states = 0
    /// The shortest way to a state that must not be.
    private(set) var counterexample: [LeaseModel.Step]?
    /// States that nothing leads on from.
    private(set) var ends: [LeaseState] = []

    /// - Parameter numbersCallers: tells the callers apart, as a way that is to be read must; without it, states in
    ///   which they have changed parts are one, which is a sixth of the work for three.
    init(_ model: LeaseModel, numbersCallers: Bool = true) {
        var seen: Set = [LeaseState()]
        var queue: [(state: LeaseState, step: LeaseModel.Step?, origin: Int)] = [(LeaseState(), nil, 0)]
        while states < queue.count {
            let index = states, state = queue[index].state
            states += 1
            guard !model.isViolation(state) else {
                counterexample = Array(
                    sequence(first: queue[index]) { queue[$0.origin] }.lazy.map(\.step).prefix { $0 != nil }.compactMap(
                        \.self
                    ).reversed())
                return
            }
            let successors = model.successors(of: state)
            if successors.isEmpty { ends.append(state) }
            for (step, successor) in successors {
                let next = numbersCallers ? successor : successor.withCallersInOrder(model.callers)
                if seen.insert(next).inserted { queue.append((next, step, index)) }
            }
        }
    }
}
