import Backplane
import BackplaneHost

extension DevEvent.Refusal {
    /// Returns the refusal with the line and column of each location in the manifest that it names, as `check` shows
    /// them.
    func placed(in document: ManifestDocument, of manifest: String) -> DevEvent.Refusal {
        var refusal = self
        var positions: [String: String] = [:]
        for location in Set(error.locations) where document.contains(location) {
            let problem = document.problem(of: BackplaneError(error.code, "", at: location))
            guard let position = problem.position else { continue }
            positions[location] = "\(manifest):\(position.line):\(position.column): \(location)"
        }
        refusal.error = error.relocated(by: positions)
        // An error that sums up several has the place of the first.
        if let first = refusal.error.causes.first?.location, refusal.error.location == document.path {
            refusal.error.location = first
        }
        return refusal
    }
}

extension BackplaneError {
    fileprivate var locations: [String] { (location.map { [$0] } ?? []) + causes.flatMap(\.locations) }

    fileprivate func relocated(by positions: [String: String]) -> BackplaneError {
        var error = self
        error.location = location.map { positions[$0] ?? $0 }
        error.causes = causes.map { $0.relocated(by: positions) }
        return error
    }
}
