import Backplane
import BackplaneControl
import BackplaneHost

/// What reaches the one task that `backplane dev` decides on.
enum DevNews: Sendable {
    /// What packages consist of was read.
    case packages([Result<DevPackage, BackplaneError>])
    /// They run the manifest.
    case others([RunningHost])
    case sources(WatchedChanges)
    case libraries(WatchedChanges)
    /// Of the build with this number.
    case build(RunningBuild.News, of: Int)
    /// An older one's news is nobody's concern.
    case host(HostProcess.News, of: Int)
    case answer(HostAnswer, of: Int)
    /// From now on there are keys.
    case keys
    case key(DevKey)
    case stop(String)
}

extension DevNews {
    init(_ news: KeyReader.News) {
        self = switch news {
        case .begun: .keys
        case .key(let key): .key(key)
        case .closed: .stop("the terminal was closed")
        }
    }
}

/// What the host has said to what it was asked.
enum HostAnswer: Sendable {
    case swapped(SwapReport)
    case rolledBack(SwapReport)
    case applied(ManifestChange)
    case generations([Generation])
    case refused(DevEvent.Refusal)
}
