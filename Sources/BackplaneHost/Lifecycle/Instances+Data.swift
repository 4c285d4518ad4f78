import Backplane

/// The data of data access controllers that continue under another namespace.
extension Instances {
    /// Records the location of the data of a component that has started successfully.
    ///
    /// Until the manifest changes again, the data remains accessible there, so a failure is only logged.
    func keepData(of component: RunningComponent) {
        guard let place = component.dataPlace else { return }
        do throws(BackplaneError) { try starter.data.keep(component.node, at: place) } catch {
            live.log(.error, "could not record where the data of a renamed component is", component, error)
        }
    }

    /// Records the location of the data of all controllers that continue a former namespace, whether they are running
    /// or not.
    ///
    /// Otherwise, they would not find it once the manifest no longer states their former names.
    func keepFormerData(in plan: Plan) async {
        for node in plan.nodes where node.dataNamespace != nil && node.was != nil {
            do throws(BackplaneError) {
                if let place = try await starter.data.place(of: node, in: plan) {
                    try starter.data.keep(node, at: place)
                }
            } catch {
                live.options.log.write(
                    LogRecord(
                        level: .error, source: "host",
                        message: "could not record where the data of a renamed component is",
                        metadata: ["component": node.name, "error": error.description]))
            }
        }
    }

    /// Returns an error for each data access controller that a change would leave without its data.
    ///
    /// The data stays where it is, but the controller would look for it elsewhere.
    func dataLeftBehind(from old: LoadedManifest, to new: LoadedManifest, _ succession: Succession) async
        -> [BackplaneError]
    {
        let before = succession.before
        var errors: [BackplaneError] = []
        for node in new.plan.nodes {
            guard let namespace = node.dataNamespace, let was = before[node.id].map({ old.plan.nodes[$0] }),
                let left = was.dataNamespace,
                let place = try? await starter.data.place(of: was, in: old.plan),
                let next = try? await starter.data.place(of: node, in: new.plan), place != next,
                await hasData(at: place)
            else { continue }
            let former = left == namespace ? was.was ?? place : left
            let advice =
                node.was == former
                ? "it already has its own folder, `\(next)`: move that folder away,"
                : "write `\"was\": \"\(former)\"` in its definition, give it `\"namespace\": \"\(former)\"`,"
            errors.append(
                BackplaneError(
                    .stateIncompatible,
                    "\(node.name) would start without the data that it stored as `\(former)`; \(advice) or continue "
                        + "without the data (`SwapOptions.discardsState`)",
                    at: node.location))
        }
        return errors
    }

    private func hasData(at place: String) async -> Bool {
        guard starter.store.isOpen else { return starter.data.hasFiles(at: place) }
        return (try? await starter.data.hasData(at: place)) ?? false
    }
}
