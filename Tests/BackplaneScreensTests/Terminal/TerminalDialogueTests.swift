import BackplaneScreens
import Testing

@testable import BackplaneApp

@Suite(.timeLimit(.minutes(5)))
struct `A window through a pipe` {
    @ViewBuilder private var form: [View] {
        Field("Search", id: "search")
        Choice("Sort", id: "sort", value: "t", options: [View.Option("t", "Title"), View.Option("y", "Year")])
        Toggle("Free", id: "free", isOn: false)
        List(["a"], id: \.self) { title in
            Link(title, to: .to("book"))
            Button("Borrow", id: "borrow")
        }
    }

    private func opened(_ drawing: WindowDrawing) -> TerminalDialogue {
        var dialogue = TerminalDialogue(drawing)
        _ = dialogue.show(drawing)
        return dialogue
    }

    @Test func `a line names what to press, to follow or to enter`() {
        var dialogue = opened(.of(tabs: ["Books", "Loans"], back: "Home") { form })
        #expect(dialogue.read("1") == .act([.select(tab: 1)]))
        #expect(dialogue.read("2") == .act([.goBack]))
        var values = ["search": "moby dick", "sort": "t", "free": "false"]
        #expect(
            dialogue.read("3 moby dick")
                == .act([
                    .send(ViewEvent(.change, "search", value: "moby dick", values: values), screen: 1),
                    .send(ViewEvent(.submit, "search", value: "moby dick", values: values), screen: 1),
                ]))
        values["sort"] = "y"
        #expect(
            dialogue.read("4 Year") == .act([.send(ViewEvent(.change, "sort", value: "y", values: values), screen: 1)]))
        values = values.merging(["sort": "t", "free": "true"]) { $1 }
        #expect(
            dialogue.read("5") == .act([.send(ViewEvent(.change, "free", value: "true", values: values), screen: 1)]))
        values["free"] = "false"
        #expect(dialogue.read("6") == .act([.follow(.to("book"), screen: 1)]))
        #expect(
            dialogue.read("7") == .act([.send(ViewEvent(.press, "borrow", rows: ["a"], values: values), screen: 1)]))
        #expect(dialogue.read("") == .show)
        #expect(dialogue.read("q") == .quit)
    }

    @Test func `a line that means nothing is refused with what could be written`() {
        var dialogue = opened(.of { form })
        for number in ["9", "0", "-1", "\(Int.min)", "\(Int.max)", "9\(Int.max)"] {
            #expect(
                dialogue.read(number) == .refuse("`\(number)` is not here; write a number from 1 to 5, or q to quit"))
        }
        #expect(
            dialogue.read("borrow it") == .refuse("`borrow` is not here; write a number from 1 to 5, or q to quit"))
        #expect(dialogue.read("1") == .refuse("write `1 TEXT` to enter a text"))
        #expect(dialogue.read("2 Price") == .refuse("write one of `2 Title`, `2 Year`"))
        var empty = opened(.of {})
        for number in ["1", "0", "\(Int.min)"] {
            #expect(empty.read(number) == .refuse("`\(number)` is not here; there is nothing to do, or q to quit"))
        }
    }

    @Test func `an empty text can be entered`() {
        var dialogue = opened(.of { Field("Search", id: "search", value: "moby") })
        guard case .act(let actions) = dialogue.read("1 ") else {
            Issue.record("nothing was entered")
            return
        }
        #expect(actions.first == .send(ViewEvent(.change, "search", value: "", values: ["search": ""]), screen: 1))
    }

    @Test func `an alert is removed`() {
        var dialogue = opened(.of(alert: WindowDrawing.Alert(title: "No", message: "a reason")) { form })
        #expect(dialogue.read("1") == .act([.dismissAlert]))
    }
}
