import Backplane
import BooksAPIv2Module
public import CBackplane

@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>) -> Int32 {
    BooksAPIv2Plugin.enter(offer, answer)
}
