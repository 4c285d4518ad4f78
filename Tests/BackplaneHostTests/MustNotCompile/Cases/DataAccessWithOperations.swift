// swift-format-ignore-file

import Backplane
import BackplaneOperations

/// A data access controller runs no graphs.
final class GraphStore: DataAccessController {
    init(_ context: Context) {
        _ = context.operations  // error: value of type 'DataAccessContext<GraphStore>' has no member 'operations'
    }
}
