import Backplane
import BackplaneHost
import Testing

@testable import BackplaneTools

/// What `backplane dev` decides to do next.
struct DevLoopTests {
    private let notes = Self.product("Notes"), clock = Self.product("Clock")

    private static func product(_ name: String) -> DevPackage.Product {
        .init(
            package: "/app", name: name, library: "/app/.build/debug/lib\(name).so", folders: ["/app/Sources/\(name)"],
            resources: [])
    }

    /// One whose plugins are built and whose host serves.
    private func running() -> DevLoop {
        var loop = DevLoop()
        for event in [DevLoop.Event.changed([notes, clock]), .built(.succeeded), .built(.succeeded), .hostUp] {
            _ = loop.take(event)
        }
        return loop
    }

    @Test func `all is built before the host starts`() {
        var loop = DevLoop()
        #expect(loop.take(.changed([notes, clock])) == [.build(notes)])
        #expect(loop.take(.libraries([notes.library])) == [])
        #expect(loop.take(.built(.succeeded)) == [.build(clock)])
        #expect(loop.take(.built(.succeeded)) == [.startHost])
        #expect(loop.take(.hostUp) == [])
    }

    @Test func `with nothing to build the host starts at once`() {
        var loop = DevLoop()
        #expect(loop.take(.changed([])) == [.startHost])
    }

    @Test func `a refusal that a new manifest may fix is reported only if it does not`() {
        var loop = running()
        #expect(loop.take(.libraries([notes.library])) == [.swap([notes.library])])
        #expect(loop.take(.manifest) == [])
        #expect(loop.take(.answered(.misfit)) == [.swapApplying([notes.library])])
        #expect(loop.take(.answered(.misfit)) == [.showRefusal, .swap([notes.library])])
        #expect(loop.take(.answered(.misfit)) == [], "it has been told of")
    }

    @Test func `sources and the manifest that were saved together are swapped in together, once all is built`() {
        var loop = running()
        #expect(loop.take(.changed([notes, clock])) == [.build(notes)])
        #expect(loop.take(.manifest) == [])
        #expect(loop.take(.libraries([notes.library])) == [], "alone it may not fit")
        #expect(loop.take(.built(.succeeded)) == [.build(clock)])
        #expect(loop.take(.libraries([clock.library])) == [])
        #expect(loop.take(.built(.succeeded)) == [.swapApplying([clock.library, notes.library])])
        #expect(loop.take(.answered(.done)) == [])
        #expect(loop.take(.libraries([notes.library])) == [.swap([notes.library])], "the manifest is active")
    }

    @Test func `code that is refused alone is swapped in with the manifest that is saved later`() {
        var loop = running()
        #expect(loop.take(.libraries([notes.library])) == [.swap([notes.library])])
        #expect(loop.take(.answered(.misfit)) == [.showRefusal])
        #expect(loop.take(.manifest) == [.swapApplying([notes.library])])
        #expect(loop.take(.answered(.done)) == [])
        #expect(loop.take(.manifest) == [.apply], "no code waits any longer")
    }

    @Test func `a manifest that is refused alone is activated with the code that is saved later`() {
        var loop = running()
        #expect(loop.take(.manifest) == [.apply])
        #expect(loop.take(.answered(.misfit)) == [.showRefusal])
        #expect(loop.take(.libraries([notes.library])) == [.swapApplying([notes.library])])
        #expect(loop.take(.answered(.done)) == [])
    }

    @Test(arguments: [DevLoop.Event.libraries(["/a.so"]), .manifest])
    func `what comes while the application starts has it start again`(news: DevLoop.Event) {
        var loop = DevLoop()
        #expect(loop.take(.changed([])) == [.startHost])
        #expect(loop.take(news) == [.endHost])
        #expect(loop.take(.hostUp) == [], "that is too late")
        #expect(loop.take(.libraries(["/b.so"])) == [], "it is ending already")
        #expect(loop.take(.hostEnded) == [.startHost])
        #expect(loop.take(.hostUp) == [], "it has found all that")
    }

    @Test func `a second restart ends the host at once`() {
        var loop = running()
        #expect(loop.take(.restart) == [.endHost])
        #expect(loop.take(.restart) == [.endHost])
        #expect(loop.take(.hostEnded) == [.startHost])
    }

    @Test func `a library is swapped when it is closed, and the end of its build is nothing new`() {
        var loop = running()
        #expect(loop.take(.changed([notes])) == [.build(notes)])
        #expect(loop.take(.libraries([notes.library])) == [.swap([notes.library])])
        #expect(loop.take(.built(.succeeded)) == [])
        #expect(loop.take(.answered(.done)) == [])
    }

    @Test func `a save cancels the build that it makes useless, and no other`() {
        var loop = running()
        #expect(loop.take(.changed([notes])) == [.build(notes)])
        #expect(loop.take(.changed([clock])) == [])
        #expect(loop.take(.changed([notes])) == [.cancelBuild])
        #expect(loop.take(.changed([notes])) == [])
        #expect(loop.take(.built(.cancelled)) == [.build(clock)])
        #expect(loop.take(.built(.succeeded)) == [.build(notes)])
    }

    @Test func `what comes while the host is asked is asked afterwards, together`() {
        var loop = running()
        #expect(loop.take(.libraries(["/a.so"])) == [.swap(["/a.so"])])
        #expect(loop.take(.libraries(["/b.so"])) == [])
        #expect(loop.take(.libraries(["/c.so"])) == [])
        #expect(loop.take(.answered(.done)) == [.swap(["/b.so", "/c.so"])])
    }

    @Test func `failed code is reported, and never tried again`() {
        var loop = running()
        _ = loop.take(.changed([notes, clock]))
        _ = loop.take(.libraries([notes.library]))
        #expect(loop.take(.answered(.failed)) == [.showRefusal])
        #expect(loop.take(.built(.succeeded)) == [.build(clock)])
        #expect(loop.take(.libraries([clock.library])) == [.swap([clock.library])])
        #expect(loop.take(.answered(.done)) == [])
    }

    @Test func `a product that did not build is waited for by name, until it is no longer needed`() {
        var loop = DevLoop(), moved = notes
        moved.folders = ["/app/Sources/Other"]
        _ = loop.take(.changed([notes, clock]))
        #expect(loop.take(.built(.failed)) == [.build(clock)])
        #expect(loop.take(.built(.failed)) == [])
        #expect(loop.take(.needed([moved])) == [])
        #expect(loop.take(.changed([moved])) == [.build(moved)])
        #expect(loop.take(.built(.succeeded)) == [.startHost])
    }

    @Test func `what was refused goes in with what makes it fit`() {
        var loop = running()
        _ = loop.take(.libraries(["/a.so"]))
        #expect(loop.take(.answered(.misfit)) == [.showRefusal])
        #expect(loop.take(.libraries(["/b.so"])) == [.swap(["/b.so"])])
        #expect(loop.take(.answered(.misfit)) == [.swap(["/a.so", "/b.so"])])
        #expect(loop.take(.answered(.done)) == [])
    }

    @Test func `a newer library takes the place of a refused one`() {
        var loop = running()
        _ = loop.take(.libraries(["/a.so"]))
        _ = loop.take(.answered(.misfit))
        #expect(loop.take(.libraries(["/a.so"])) == [.swap(["/a.so"])])
        #expect(loop.take(.answered(.done)) == [])
    }

    @Test func `a manifest is applied when nothing is being built`() {
        var loop = running()
        #expect(loop.take(.changed([notes])) == [.build(notes)])
        #expect(loop.take(.manifest) == [])
        #expect(loop.take(.built(.succeeded)) == [.apply])
        #expect(loop.take(.answered(.misfit)) == [.showRefusal])
    }

    @Test
    func `a library that only the new manifest names is swapped once that is active, and not reported before`() {
        var loop = running()
        #expect(loop.take(.changed([notes])) == [.build(notes)])
        #expect(loop.take(.manifest) == [])
        #expect(loop.take(.libraries([notes.library])) == [])
        #expect(loop.take(.built(.succeeded)) == [.swapApplying([notes.library])])
        #expect(loop.take(.answered(.done)) == [])
        let unknown = DevEvent.Refusal(subject: .swap, error: BackplaneError(.pluginUnknown, "it is not active"))
        #expect(unknown.answer(ifWaiting: true) == .misfit)
    }

    @Test func `a manifest waits until it is known what is to be built`() {
        var loop = running()
        #expect(loop.take(.reading) == [])
        #expect(loop.take(.manifest) == [])
        #expect(loop.take(.changed([notes])) == [.build(notes)])
        #expect(loop.take(.read) == [])
        #expect(loop.take(.libraries([notes.library])) == [])
        #expect(loop.take(.built(.succeeded)) == [.swapApplying([notes.library])])
        #expect(loop.take(.answered(.done)) == [])
        #expect(loop.take(.libraries([notes.library])) == [.swap([notes.library])])
        #expect(loop.take(.answered(.done)) == [], "it is active")
    }

    @Test func `a refused manifest is tried again with new code, and alone if not with it`() {
        var loop = running()
        #expect(loop.take(.manifest) == [.apply])
        #expect(loop.take(.answered(.misfit)) == [.showRefusal])
        #expect(loop.take(.libraries([notes.library])) == [.swapApplying([notes.library])])
        #expect(loop.take(.answered(.misfit)) == [.showRefusal, .swap([notes.library])])
        #expect(loop.take(.answered(.done)) == [.apply])
        #expect(loop.take(.answered(.misfit)) == [])
        #expect(loop.take(.libraries([notes.library])) == [.swapApplying([notes.library])])
        #expect(loop.take(.answered(.done)) == [])
    }

    @Test func `a host that died is started again by what is new, and by nothing else`() {
        var loop = running()
        #expect(loop.take(.hostEnded) == [])
        #expect(loop.take(.changed([notes])) == [.build(notes)])
        #expect(loop.take(.built(.failed)) == [])
        #expect(loop.take(.changed([notes])) == [.build(notes)])
        #expect(loop.take(.libraries([notes.library])) == [])
        #expect(loop.take(.built(.succeeded)) == [.startHost])
    }

    @Test func `a person has the host begin from nothing`() {
        var loop = running()
        #expect(loop.take(.restart) == [.endHost])
        #expect(loop.take(.hostEnded) == [.startHost])
        _ = loop.take(.hostUp)
        _ = loop.take(.hostEnded)
        #expect(loop.take(.restart) == [.startHost])
    }

    @Test func `a roll back waits its turn`() {
        var loop = running()
        #expect(loop.take(.libraries(["/a.so"])) == [.swap(["/a.so"])])
        #expect(loop.take(.rollBack(plugin: "org.notes")) == [])
        #expect(loop.take(.answered(.done)) == [.rollBack(plugin: "org.notes")])
        #expect(loop.take(.answered(.misfit)) == [.showRefusal])
    }

    @Test func `a swap that long calls hold up comes by itself, and holds up nothing else`() {
        var loop = running()
        #expect(loop.take(.libraries([notes.library])) == [.swap([notes.library])])
        #expect(
            loop.take(.answered(.held)) == [.showRefusal, .swapWaiting([notes.library], applying: false)])
        #expect(loop.take(.libraries([clock.library])) == [.swap([clock.library])])
        #expect(loop.take(.waited(.held)) == [], "the host has given way")
        #expect(loop.take(.answered(.done)) == [.swapWaiting([notes.library], applying: false)])
        #expect(loop.take(.waited(.done)) == [])
        #expect(loop.take(.libraries([clock.library])) == [.swap([clock.library])])
    }

    @Test func `a newer build, or the way back, replaces one that waits for long calls`() {
        var loop = running()
        _ = loop.take(.libraries([notes.library]))
        _ = loop.take(.answered(.held))
        #expect(loop.take(.libraries([notes.library])) == [.swap([notes.library])])
        #expect(loop.take(.waited(.held)) == [])
        #expect(loop.take(.answered(.done)) == [])
        _ = loop.take(.libraries([clock.library]))
        _ = loop.take(.answered(.held))
        #expect(loop.take(.rollBack(plugin: "org.notes")) == [.rollBack(plugin: "org.notes")])
        #expect(loop.take(.waited(.held)) == [])
        #expect(loop.take(.answered(.done)) == [])
    }

    @Test func `a manifest that waits with its library is not lost when another library has to wait`() {
        var loop = running()
        _ = loop.take(.changed([notes]))
        for event in [.manifest, .libraries([notes.library])] as [DevLoop.Event] { _ = loop.take(event) }
        #expect(loop.take(.built(.succeeded)) == [.swapApplying([notes.library])])
        #expect(loop.take(.answered(.held)) == [.showRefusal, .swapWaiting([notes.library], applying: true)])
        _ = loop.take(.changed([clock]))
        #expect(loop.take(.libraries([clock.library])) == [.swap([clock.library])])
        #expect(loop.take(.waited(.held)) == [])
        let both = [clock.library, notes.library].sorted()
        #expect(loop.take(.answered(.held)) == [.showRefusal, .swapWaiting(both, applying: true)])
    }

    @Test func `a refusal by calls that have not ended is told from others`() {
        func refusal(_ cause: BackplaneError.Code) -> DevEvent.Refusal {
            .init(
                subject: .swap,
                error: BackplaneError(
                    .swapFailed, "org.notes 2.0.0 could not be activated: quiesce: 1 call has not ended",
                    causes: [BackplaneError(cause, "1 call has not ended")]))
        }
        #expect(refusal(.swapHeld).answer(ifWaiting: true) == .held)
        #expect(refusal(.swapHeld).answer(ifWaiting: false) == .failed, "the policy is to fail, or to cancel the calls")
        #expect(refusal(.callDeadline).answer(ifWaiting: true) == .failed, "a step of the plugin has not ended")
        #expect(refusal(.swapHeld).nextStep(ifWaiting: true)?.contains("by itself") == true)
        #expect(refusal(.swapHeld).nextStep(ifWaiting: false)?.contains("press r") == true)
        #expect(refusal(.callDeadline).nextStep(ifWaiting: true)?.contains("press r") == true)
    }
}
