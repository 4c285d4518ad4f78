import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Operations: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "operations",
            abstract: "List, follow and control the graphs of operations of a running host.",
            discussion: """
                These are the graphs that components run in their queues. Each has a number, and its nodes are \
                numbered from 0.

                EXAMPLES
                  backplane operations list
                  backplane operations watch 17
                  backplane operations pause 17 --node 3
                """,
            subcommands: [List.self, Show.self, Watch.self, Pause.self, Resume.self, Cancel.self])
    }
}

extension BackplaneTool.Operations {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the running graphs, in the order in which they were started.")
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the graphs as JSON.") var json = false

        func run() throws {
            try host.choice.show(OperationsRequest(), json: json) { graphs in
                Output.table(
                    ["NUMBER", "GRAPH", "COMPONENT", "PLUGIN", "NODES"],
                    graphs.map { ["\($0.number)", $0.title, $0.component.printable, $0.plugin, $0.counts] })
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the nodes of a graph and their states.")
        @Argument(help: "The number of the graph.") var number: UInt64
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the graph as JSON.") var json = false

        func run() throws {
            try host.choice.show(OperationRequest(number: number), json: json) { graph in
                Output.line("\(graph.title) of \(graph.component.printable): \(graph.counts)")
                Output.table(
                    ["NODE", "NAME", "STATE"],
                    (graph.nodes ?? []).map { ["\($0.node)", $0.name.printable, $0.state.printable] })
            }
        }
    }

    struct Watch: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch",
            abstract: "Print the states of a graph's nodes, and their changes until the graph has ended.")
        @Argument(help: "The number of the graph.") var number: UInt64
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print each state as one line of JSON.") var json = false

        func run() throws {
            let code = try host.choice.converse(doing: "waiting for the host") { conversation throws(BackplaneError) in
                try conversation.follow(WatchOperationRequest(number: number), of: OperationNodeForm.self) {
                    node, element in
                    Output.line(json ? element : "\(node.node) \(node.name.printable): \(node.state.printable)")
                }
            }
            throw ExitCode(code)
        }
    }

    struct Pause: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause",
            abstract: "Pause a graph or a node.",
            discussion:
                "Running code continues, and its result is held back; only work such as a transfer is suspended.")
        @OptionGroup var change: OperationChangeArguments
        func run() throws { throw ExitCode(try change.run(.pause)) }
    }

    struct Resume: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "Resume a graph or a node that is paused.")
        @OptionGroup var change: OperationChangeArguments
        func run() throws { throw ExitCode(try change.run(.resume)) }
    }

    struct Cancel: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: "Cancel a graph or a node.",
            discussion: "Without --node, pending finish nodes still run; with it, nodes that depend on it fail.")
        @OptionGroup var change: OperationChangeArguments
        func run() throws { throw ExitCode(try change.run(.cancel)) }
    }
}

/// The arguments of the commands that change a graph.
struct OperationChangeArguments: ParsableArguments {
    @Argument(help: "The number of the graph.") var number: UInt64
    @Option(help: ArgumentHelp("The number of a node (default: all nodes).", valueName: "number")) var node: Int?
    @OptionGroup var host: HostChoiceArguments

    func run(_ change: OperationChange) throws -> Int32 {
        try host.choice.ask(ChangeOperationRequest(number: number, change: change, node: node)) { _, _ in 0 }
    }
}

extension OperationForm {
    fileprivate var title: String {
        name.printable + (queue.map { " (queue \($0.printable))" } ?? "")
    }

    /// The number of nodes in each state.
    fileprivate var counts: String {
        states.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
