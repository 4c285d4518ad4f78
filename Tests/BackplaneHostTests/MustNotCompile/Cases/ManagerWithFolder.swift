// swift-format-ignore-file

import Backplane

/// A manager has no folder: that is its data access controller's.
final class Filer: Manager {
    init(_ context: Context) {
        _ = context.folder  // error: value of type 'ManagerContext<Filer>' has no member 'folder'
    }
}
