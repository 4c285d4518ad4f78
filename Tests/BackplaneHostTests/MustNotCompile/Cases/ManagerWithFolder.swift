// swift-format-ignore-file

import Backplane

/// A manager has no folder: that is its data access controller's.
final class FolderManager: Manager {
    init(_ context: Context) {
        _ = context.folder  // error: value of type 'ManagerContext<FolderManager>' has no member 'folder'
    }
}
