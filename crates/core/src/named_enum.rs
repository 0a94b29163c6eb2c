//! Enums whose variants have the names that plans, screens and settings use.

/// Declares an enum with `ALL`, `as_str` and `parse`, and with `state` where each variant gives one:
/// `Missing = "missing" => Missing`.
#[macro_export]
macro_rules! named_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $text:literal $(=> $state:ident)?,)+
    }) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// Every variant, in its order.
            $vis const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The name that plans, screens and settings use.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The variant with this name.
            $vis fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == name)
            }
        }

        $crate::named_enum!(@states $vis $name $($variant $($state)?),+);
    };
    (@states $vis:vis $name:ident $($variant:ident $state:ident),+) => {
        impl $name {
            /// The state of the verdict, unless a ruling says otherwise.
            $vis fn state(self) -> $crate::engine::State {
                match self {
                    $(Self::$variant => $crate::engine::State::$state,)+
                }
            }
        }
    };
    (@states $vis:vis $name:ident $($variant:ident),+) => {};
}
