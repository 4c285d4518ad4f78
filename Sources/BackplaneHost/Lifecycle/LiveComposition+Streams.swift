import Backplane

extension LiveComposition {
    /// Ends the streams that a component has opened, because it is being suspended or stopped.
    ///
    /// Its own streams are interrupted first, and refused until it is resumed: their bodies may read the streams that
    /// end, and would otherwise fail with the error of those.
    func endStreams(openedBy component: RunningComponent) {
        // 0 is the host program.
        guard component.number != 0 else { return }
        let offered = ComponentHandles.find(component.handle), number = component.number
        let providers = consumers.have(number) ? nodesByID.values.compactMap { $0.callable?.streams } : []
        guard !providers.isEmpty || offered?.hasStreams == true else { return }
        // Found now: by the time they end, the component may be resumed, or another one may have its number.
        let ends = providers.map { $0.ending(openedBy: number, .askerStopped) }
        let endOffered = offered?.endingStreams(.askerStopped)
        component.streams.interrupt(isStopped ? .hostHasStopped : .streamInterrupted) {
            for end in ends { end() }
            endOffered?()
        }
    }

    /// Ends the streams of all components, because the host is stopping.
    func endAllStreams() {
        for node in nodesByID.values { node.callable?.streams.interrupt(.hostHasStopped) }
    }
}
