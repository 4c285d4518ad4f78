#if Engines
import ArgumentParser

extension BackplaneTool.TransferFiles {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the transfers of a running host, in the order in which they were started.")

        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "List only transfers that have not ended.") var open = false
        @Option(help: ArgumentHelp("The maximum number of transfers (default: 1000).", valueName: "count"))
        var limit: Int?
        @Flag(help: "Print the states as JSON.") var json = false

        func run() async throws {
            throw ExitCode(HostedTransferCommand(host: try host.choice, json: json).list(open: open, limit: limit))
        }
    }

    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Follow transfers of a running host until they are finished.",
            discussion: """
                Without an id, all unfinished transfers are followed: as a table on a terminal, otherwise with one \
                line for each change. With one, the exit code is that of `get` or `put`.
                """)

        @Argument(help: "The id (default: all unfinished transfers).") var id: String?
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print each state as one line of JSON.") var json = false

        func run() async throws {
            let command = HostedTransferCommand(host: try host.choice, json: json)
            throw ExitCode(id.map { command.watch($0) } ?? command.watchAll())
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Pause a transfer of a running host.",
            discussion: "Returns once everything received is on the disk.")
        @OptionGroup var change: TransferChangeArguments
        func run() async throws { throw ExitCode(try change.run("pause")) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Resume a paused or failed transfer of a running host.")
        @OptionGroup var change: TransferChangeArguments
        func run() async throws { throw ExitCode(try change.run("resume")) }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancel a transfer of a running host, and remove its incomplete file.")
        @OptionGroup var change: TransferChangeArguments
        func run() async throws { throw ExitCode(try change.run("cancel")) }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancel a transfer of a running host unless it has ended, and delete its record.")
        @OptionGroup var change: TransferChangeArguments
        func run() async throws { throw ExitCode(try change.run("remove")) }
    }
}

/// The arguments of the commands that change a transfer.
struct TransferChangeArguments: ParsableArguments {
    @Argument(help: "The id, as shown by `transfer list`.") var id: String
    @OptionGroup var host: HostChoiceArguments
    @Flag(help: "Print the resulting state as one line of JSON.") var json = false

    func run(_ change: String) throws -> Int32 {
        HostedTransferCommand(host: try host.choice, json: json).change(id, change)
    }
}
#endif
