import Backplane
import BackplaneScreens

/// The screen `harbour.endless`: its assembly never ends, even if it is cancelled.
final class EndlessScreen: Screen {
    static let identifier = "harbour.endless"

    init() {}

    static func assemble(with input: Nothing, agent: Agent) async throws -> EndlessScreen {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return EndlessScreen()
    }

    var body: [View] { [] }
}

/// The screen `harbour.failing`: its assembly throws an error.
final class FailingScreen: Screen {
    static let identifier = "harbour.failing"

    init() {}

    static func assemble(with input: Nothing, agent: Agent) async throws -> FailingScreen {
        throw HarbourProblem(message: "a storm keeps the harbour closed")
    }

    var body: [View] { [] }
}

/// The screen `harbour.restless`: it redraws in a loop between `start` and `stop`.
actor RestlessScreen: Screen {
    static let identifier = "harbour.restless"
    private let agent: Agent
    private var readings = 0
    private var loop: Task<Void, Never>?

    init(_ agent: Agent) { self.agent = agent }

    deinit { loop?.cancel() }

    static func assemble(with input: Nothing, agent: Agent) async throws -> RestlessScreen { RestlessScreen(agent) }

    var body: [View] {
        Text("Read \(count()) times")
        Button("Start", id: "start")
        Button("Stop", id: "stop")
    }

    private func count() -> Int {
        readings += 1
        return readings
    }

    func handle(_ event: ViewEvent) {
        loop?.cancel()
        loop = nil
        guard event.id == "start" else { return }
        loop = Task { [agent] in
            while !Task.isCancelled {
                agent.redraw()
                await Task.yield()
            }
        }
    }
}

/// The screen `harbour.markup`: every text, id, address and value contains markup and a script.
final class MarkupScreen: Screen {
    static let identifier = "harbour.markup"
    static let markup = #"<script>alert("x")</script><b id='y'>&amp;</b>"#

    init() {}

    static func assemble(with input: Nothing, agent: Agent) async throws -> MarkupScreen { MarkupScreen() }

    var title: String { Self.markup }

    var body: [View] {
        let markup = Self.markup
        Heading(markup)
        Text(markup).id(markup)
        Section(markup) {
            Field(markup, id: "field" + markup, value: markup, prompt: markup).problem(markup)
            Field(markup, id: "lines" + markup, value: markup, content: .multiline)
            Choice(
                markup, id: "choice" + markup, value: markup, options: [View.Option(markup), View.Option("", markup)])
            Toggle(markup, id: "toggle" + markup, isOn: true)
            Button(markup, id: "button" + markup)
        }
        List([markup], id: \.self) { Text($0) }
        Table([markup, markup]) {
            Record(id: markup) {
                Text(markup)
                Button(markup, id: "cell" + markup)
            }
        }
        Row {
            Link(markup, to: markup, markup)
            Link(markup, address: "javascript:alert(1)//" + markup)
            Link(markup, address: #"https://example.org/" onclick="alert(1)"#)
        }
        Image(#"https://example.org/" onerror="alert(1)"#, description: markup)
        ProgressBar(markup, fraction: 0.5)
        Overlay {
            Text(markup)
        } over: {
            Text(markup)
        }
    }
}
