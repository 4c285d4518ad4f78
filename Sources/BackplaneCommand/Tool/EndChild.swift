#if Engines
import ArgumentParser
import BackplaneProcesses

extension BackplaneTool {
    /// The process that kills a child of ``Inspect`` or ``Validate`` whose parent has ended.
    struct EndChild: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: ChildEnd.command, shouldDisplay: false)

        @Argument var child: Int32

        func run() { ChildEnd.run(child) }
    }
}
#endif
