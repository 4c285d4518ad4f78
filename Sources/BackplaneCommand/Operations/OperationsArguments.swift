#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Operations: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List, follow and control the graphs of operations of a running host.",
            discussion: """
                These are the graphs that components run in their queues. Each has a number, which it keeps when a swap \
                hands it over to newer code, and its nodes are numbered from 0.

                EXAMPLES
                  backplane operations list
                  backplane operations watch 17
                  backplane operations pause 17 --node 3
                """,
            subcommands: [List.self, Show.self, Watch.self, Pause.self, Resume.self, Cancel.self])
    }
}

extension BackplaneTool.Operations {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the running graphs, in the order in which they were started.")
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the graphs as JSON.") var json = false

        func run() async throws { throw ExitCode(OperationsCommand(host: try host.choice, json: json).list()) }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the nodes of a graph and their states.")
        @Argument(help: "The number of the graph.") var number: UInt64
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the graph as JSON.") var json = false

        func run() async throws { throw ExitCode(OperationsCommand(host: try host.choice, json: json).show(number)) }
    }

    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the states of a graph's nodes, and their changes until the graph has ended.")
        @Argument(help: "The number of the graph.") var number: UInt64
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print each state as one line of JSON.") var json = false

        func run() async throws { throw ExitCode(OperationsCommand(host: try host.choice, json: json).watch(number)) }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Pause a graph or a node.",
            discussion:
                "Running code continues, and its result is held back; only work such as a transfer is suspended.")
        @OptionGroup var change: OperationChangeArguments
        func run() async throws { throw ExitCode(try change.run("pause")) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Resume a graph or a node that is paused.")
        @OptionGroup var change: OperationChangeArguments
        func run() async throws { throw ExitCode(try change.run("resume")) }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancel a graph or a node.",
            discussion: "Without --node, pending finish nodes still run; with it, nodes that depend on it fail.")
        @OptionGroup var change: OperationChangeArguments
        func run() async throws { throw ExitCode(try change.run("cancel")) }
    }
}

/// The arguments of the commands that change a graph.
struct OperationChangeArguments: ParsableArguments {
    @Argument(help: "The number of the graph.") var number: UInt64
    @Option(help: ArgumentHelp("The number of a node (default: all nodes).", valueName: "number")) var node: Int?
    @OptionGroup var host: HostChoiceArguments

    func run(_ change: String) throws -> Int32 {
        OperationsCommand(host: try host.choice).change(number, change, node: node)
    }
}
#endif
