// swift-format-ignore-file

import Backplane

/// A data access controller calls nobody.
final class AskingStore: DataAccessController {
    init(_ context: Context) {
        _ = context.wires  // error: 'wires' is unavailable: a data access controller calls no component: its manager calls others, and passes their results on
    }
}
