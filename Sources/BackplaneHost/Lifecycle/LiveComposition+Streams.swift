import Backplane

extension LiveComposition {
    /// Ends the streams that a component has opened, because it is being suspended or stopped.
    func endStreams(openedBy component: RunningComponent) {
        // 0 is the host program.
        guard component.number != 0 else { return }
        if consumers.have(component.number) {
            for node in nodesByID.values { node.callable?.streams.end(openedBy: component.number, .askerStopped) }
        }
        ComponentHandles.find(component.handle)?.endStreams(.askerStopped)
    }

    /// Ends the streams of all components, because the host is stopping.
    func endAllStreams() {
        for node in nodesByID.values { node.callable?.streams.interrupt(.hostHasStopped) }
    }
}
