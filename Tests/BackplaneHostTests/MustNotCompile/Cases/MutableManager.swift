// swift-format-ignore-file

import Backplane

/// A component is called from several tasks at a time.
final class Librarian: Manager {
    var books = 0  // error: stored property 'books' of 'Sendable'-conforming class 'Librarian' is mutable
    init(_ context: Context) {}
}
