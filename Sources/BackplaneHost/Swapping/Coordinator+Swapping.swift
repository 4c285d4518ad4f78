import Backplane

extension Coordinator {
    /// Puts new builds of plugins in force: all of them, or none.
    func swap(_ libraries: [String], _ options: SwapOptions, onProbation report: ProbationReport?) async throws(BackplaneError) -> SwapReport {
        let asked = Deadline.now
        await takeTurn()
        defer { endTurn() }
        try requireRunning()
        let replacements = try await replacements(for: libraries, options)
        guard !replacements.isEmpty else { return SwapReport(.unchanged) }
        return try await swap(replacements, options, asked: asked, onProbation: report)
    }

    /// The same with plugins that are linked into this program.
    func swap(linked: [LinkedPlugin], _ options: SwapOptions) async throws(BackplaneError) -> SwapReport {
        let asked = Deadline.now
        await takeTurn()
        defer { endTurn() }
        try requireRunning()
        var replacements: [Replacement] = []
        for plugin in linked { replacements.append(try replacement(plugin)) }
        return try await swap(replacements, options, asked: asked)
    }

    /// Puts an older generation of a plugin in force again.
    func rollback(_ plugin: String, to number: Int?, _ options: SwapOptions, onProbation report: ProbationReport?) async throws(BackplaneError) -> SwapReport {
        let asked = Deadline.now
        await takeTurn()
        defer { endTurn() }
        try requireRunning()
        return try await swap([try older(plugin, number)], options, asked: asked, onProbation: report)
    }

    func preview(_ libraries: [String], _ options: SwapOptions) async throws(BackplaneError) -> SwapPreview {
        let isTurn = await takeLook()
        defer { if isTurn { endTurn() } }
        try requireRunning()
        let replacements = try await replacements(for: libraries, options)
        defer { dropRemainders(of: replacements.map(\.plugin)) }
        let swap = try await draft(replacements, options, asked: .now)
        var preview = SwapPreview()
        (preview.plugins, preview.components, preview.wires) = (swap.report.plugins, swap.report.components, swap.report.wires)
        (preview.refusals, preview.warnings) = (refusals(of: swap), swap.report.warnings)
        return preview
    }

    private func swap(
        _ replacements: [Replacement], _ options: SwapOptions, asked: Deadline, onProbation report: ProbationReport? = nil
    ) async throws(BackplaneError) -> SwapReport {
        let swap: SwapUnderWay
        do throws(BackplaneError) {
            swap = try await draft(replacements, options, asked: asked)
            if let error = BackplaneError.combining(refusals: refusals(of: swap)) { throw error }
        } catch {
            takeOut(replacements.map(\.plugin))
            throw error
        }
        swap.reportProbation = report
        // Libraries have been loaded, and their swap decided.
        swap.note(.prepare, .now - swap.asked)
        swapUnderWay = swap
        for node in swap.dormant { node.leaves = true }
        defer {
            for node in swap.dormant { node.leaves = false }
            swapUnderWay = nil
            swap.end()
        }
        return try await perform(swap)
    }

    /// One action after the other, as the machine says.
    private func perform(_ swap: SwapUnderWay) async throws(BackplaneError) -> SwapReport {
        while let action = swap.machine.next() {
            let began = Deadline.now
            do throws(BackplaneError) {
                if action.canFail { try options.swapFault?(action) }
                try await perform(action, of: swap)
            } catch {
                if swap.machine.isTakingBack { swap.report.warnings.append("while the old code came back: \(error.message); what such calls change from now on is lost") }
                swap.machine.failed(error)
            }
            swap.note(action.step, .now - began)
        }
        if let served = swap.served { swap.report.milliseconds = (served - swap.asked).milliseconds }
        switch swap.machine.outcome {
        case .undone(let action, let error):
            takeOut(swap.replacements.map(\.plugin))
            log(swap, .error, "swap failed, the old code goes on", error)
            throw swap.failure(after: action, error)
        case .rolledBack(let error):
            (swap.report.outcome, swap.report.failure) = (.rolledBack, error)
            takeOut(swap.replacements.map(\.plugin), afterProbation: true)
            log(swap, .error, "rolled back", error)
            for node in swap.dormant { node.leaves = false }
            let errors = await start(swap.interrupted.filter { loaded.plan.managers[$0] != nil }.sorted())
            swap.report.warnings += errors.map { "did not start: \($0)" }
        default:
            log(swap, .info, "swapped", nil)
            await startWhatIsNew(swap)
        }
        return swap.report
    }

    private func perform(_ action: SwapAction, of swap: SwapUnderWay) async throws(BackplaneError) {
        switch action {
        case .create(let index): try await create(swap.members[index], swap)
        case .hold: hold(swap)
        case .drain: try await drain(swap)
        case .suspend(let index): try await suspend(swap.members[index], swap)
        case .export(let index): try await export(swap.members[index], swap)
        case .import(let index): try await take(swap.members[index], swap)
        case .flip: flip(swap)
        case .activate(let index): try await activate(swap.members[index], swap)
        case .open: open(swap)
        case .watch: try await watch(swap)
        case .retire: retire(swap)
        case .discard(let index): await discard(swap.members[index], swap)
        case .deactivate(let index): await deactivate(swap.members[index], swap)
        case .unflip: unflip(swap)
        case .resume(let index): await resume(swap.members[index], swap)
        case .release: release(swap)
        case .restore(let index): await restore(swap.members[index], swap)
        case .flipBack: await flipBack(swap)
        }
    }

    /// Notes of plugins that they are not in force after all.
    func takeOut(_ plugins: [LoadedPlugin], afterProbation: Bool = false) {
        for plugin in plugins { generations.takeOut(plugin, afterProbation: afterProbation) }
        dropRemainders(of: plugins)
    }

    /// Managers that the new code made possible.
    private func startWhatIsNew(_ swap: SwapUnderWay) async {
        guard hasStartedAll else { return }
        let before = swap.before.plan.managers
        let errors = await start(swap.after.eagerNames.filter { before[$0] == nil })
        swap.report.warnings += errors.map { "did not start: \($0)" }
    }

    private func log(_ swap: SwapUnderWay, _ level: Log.Level, _ message: String, _ error: BackplaneError?) {
        guard options.log.isEnabled(level) else { return }
        for plugin in swap.report.plugins {
            var metadata = ["plugin": plugin.plugin, "generation": "\(plugin.toGeneration)", "version": "\(plugin.toVersion)"]
            metadata["error"] = error?.description
            options.log.write(LogRecord(level: level, source: "host", message: message, metadata: metadata))
        }
    }
}

extension BackplaneError {
    /// One error for all reasons against a swap; `nil` when there is none.
    fileprivate static func combining(refusals: [BackplaneError]) -> BackplaneError? {
        guard let first = refusals.first else { return nil }
        let rest = refusals.count == 1 ? "" : " (and \(refusals.count - 1) more)"
        return BackplaneError(.swapRefused, "the swap is refused, and nothing was touched: \(first.message)\(rest)", at: first.location, causes: refusals)
    }
}

extension SwapUnderWay {
    /// What whoever asked for the swap is told.
    fileprivate func failure(after action: SwapAction, _ error: BackplaneError) -> BackplaneError {
        let plugins = report.plugins.map { "\($0.plugin) \($0.toVersion)" }.joined(separator: ", ")
        return BackplaneError(
            .swapFailed, "\(plugins) could not be put in force: \(action.step.rawValue): \(error.message); the old code goes on", at: error.location,
            causes: [error])
    }
}
