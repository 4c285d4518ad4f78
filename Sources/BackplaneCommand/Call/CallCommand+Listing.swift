import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTerminal

extension CallCommand {
    /// Lists the methods of the manager, and how to call the first one with a known input.
    func list() async -> Int32 {
        if let running {
            return running.converse(doing: "waiting for the list") { host throws(BackplaneError) in
                show(try host.answer(to: MethodsRequest(manager: manager)).rows)
                return 0
            }
        }
        let host = settings.makeHost()
        do throws(BackplaneError) {
            let methods = MethodList(try await host.providerSide(ofManager: manager))
            await host.stop()
            show(methods.rows)
            return 0
        } catch {
            await host.stop()
            return Output.fail(error)
        }
    }

    private func show(_ rows: [MethodRow]) {
        if json { return Output.json(rows) }
        guard !rows.isEmpty else { return Output.line("`\(manager)` has no methods") }
        Output.table(Table(MethodRow.header, rows.map(\.cells)))
        guard let example = rows.lazy.compactMap(\.example).first else { return }
        let words = running == nil ? [settings.manifest, manager] : [manager]
        let command = ShellCommand(
            name: "call", words: words + example, options: running?.options ?? settings.composingOptions)
        Output.line("\nfor example: \(command.text)")
    }
}

extension HostChoice {
    /// The options that choose the same host.
    fileprivate var options: [ShellCommand.Option] {
        if let socket { return [ShellCommand.Option(name: "--socket", value: socket)] }
        return [ShellCommand.Option(name: "--running")]
            + (manifest.map { [ShellCommand.Option(name: "--manifest", value: $0)] } ?? [])
    }
}
