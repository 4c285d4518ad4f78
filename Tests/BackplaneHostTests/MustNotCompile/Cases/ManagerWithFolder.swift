// swift-format-ignore-file

import Backplane

/// A manager has no folder: that is its data access controller's.
final class FolderManager: Manager {
    init(_ context: Context) {
        _ = context.folder  // error: 'folder' is unavailable: a manager has no folder: call its data access controller through a wire
    }
}
