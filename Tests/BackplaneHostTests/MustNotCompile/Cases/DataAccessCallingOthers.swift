// swift-format-ignore-file

import Backplane

/// A data access controller calls nobody.
final class AskingStore: DataAccessController {
    init(_ context: Context) {
        _ = context.wires  // error: 'wires' is unavailable: a data access controller cannot call components: its manager calls them, and passes on their results
    }
}
