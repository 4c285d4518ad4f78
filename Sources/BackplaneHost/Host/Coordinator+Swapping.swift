import Backplane

extension Coordinator {
    /// Activates new builds of plugins: all of them, or none.
    func swap(_ libraries: [String], _ options: SwapOptions, onProbation report: ProbationReport?)
        async throws(BackplaneError) -> SwapReport
    {
        let asked = Deadline.now
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        let replacements = try await self.replacements.load(libraries, options)
        guard !replacements.isEmpty else { return SwapReport(.unchanged) }
        return try await swap(replacements, options, asked: asked, onProbation: report)
    }

    /// Activates plugins that are linked into this program.
    func swap(linked: [LinkedPlugin], _ options: SwapOptions) async throws(BackplaneError) -> SwapReport {
        let asked = Deadline.now
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        var replacements: [Replacement] = []
        for plugin in linked { replacements.append(try self.replacements.describe(plugin)) }
        return try await swap(replacements, options, asked: asked)
    }

    /// Activates an older generation of a plugin again.
    func rollback(_ plugin: String, to number: Int?, _ options: SwapOptions, onProbation report: ProbationReport?)
        async throws(BackplaneError) -> SwapReport
    {
        let asked = Deadline.now
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        return try await swap([try replacements.older(plugin, number)], options, asked: asked, onProbation: report)
    }

    func preview(_ libraries: [String], _ options: SwapOptions) async throws(BackplaneError) -> SwapPreview {
        let isTurn = await turns.takeLook(isOnProbation: swapUnderWay?.machine.isOnProbation ?? false)
        defer { if isTurn { turns.end() } }
        try live.requireRunning()
        let replacements = try await self.replacements.load(libraries, options)
        defer { live.giveRoomBack(of: replacements.map(\.plugin)) }
        return try await draft(replacements, options, asked: .now).preview
    }

    private func swap(
        _ replacements: [Replacement], _ options: SwapOptions, asked: Deadline,
        onProbation report: ProbationReport? = nil
    ) async throws(BackplaneError) -> SwapReport {
        let swap: SwapTransaction
        do throws(BackplaneError) {
            swap = try await draft(replacements, options, asked: asked)
            if let error = BackplaneError.combining(refusals: swap.refusals) { throw error }
        } catch {
            live.takeOut(replacements.map(\.plugin))
            throw error
        }
        swap.reportProbation = report
        swapUnderWay = swap
        defer { swapUnderWay = nil }
        return try await swap.perform()
    }

    private func draft(_ replacements: [Replacement], _ options: SwapOptions, asked: Deadline)
        async throws(BackplaneError) -> SwapTransaction
    {
        let surroundings = SwapSurroundings(
            startup: startup, shutdown: shutdown, retirements: retirements, turns: turns, options: self.options.swapping
        )
        return try await SwapTransaction.draft(replacements, options, asked: asked, in: surroundings)
    }
}

extension BackplaneError {
    /// Returns one error for all reasons against a swap, or `nil` if there is none.
    fileprivate static func combining(refusals: [BackplaneError]) -> BackplaneError? {
        guard let first = refusals.first else { return nil }
        let rest = refusals.count == 1 ? "" : " (and \(refusals.count - 1) more)"
        return BackplaneError(
            .swapRefused, "the swap was refused, and nothing was changed: \(first.message)\(rest)", at: first.location,
            causes: refusals)
    }
}
